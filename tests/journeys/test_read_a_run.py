"""Reading a run of each kind as people do: at a terminal, on a page, and by the API."""

import asyncio
import html
import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx2
import pytest

from generators.healthy_runs import CHECKS
from gofer.journal import entries as e
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import ContextCompacted
from gofer.projections.script_replay import is_of_a_script
from gofer.values.errors import Corrupt
from support.app.command_line import Command
from support.app.company import Company
from support.app.model_of_each_kind import ANSWERS, CANARY, REFUSED
from support.app.runs_of_each_kind import (
    CAPTAIN,
    LATER,
    PRIVATE,
    PUBLIC,
    QUESTIONS,
    STRANGER,
    THEN,
    Kind,
    Played,
    reopened,
)
from support.app.signed_in_pages import signed_in_pages

pytestmark = pytest.mark.anyio
MARKS: dict[Kind, Any] = {
    "answered": lambda entry: isinstance(entry, e.LlmResponse),
    "refused": lambda entry: isinstance(entry, e.ToolResult) and entry.status == "refused",
    "waited": lambda entry: isinstance(entry, e.RunParked) and entry.reason == "outage",
    "approved": lambda entry: isinstance(entry, e.ApprovalDecided),
    "delegated": lambda entry: isinstance(entry, e.SubagentStarted),
    "scripted": lambda entry: isinstance(entry, e.ToolResult) and is_of_a_script(entry.call),
    "compacted": lambda entry: isinstance(entry, ContextCompacted),
    "waiting": lambda entry: isinstance(entry, e.ApprovalRequested),
}
"""What only a run of each kind has, or has as many times as counted."""
TIMES: dict[Kind, int] = {"answered": 2, "refused": 3, "delegated": 3}


@pytest.mark.parametrize("kind", MARKS)
async def test_run_of_each_kind_has_the_entries_of_its_kind(of_each_kind: Played, kind: Kind) -> None:
    async with reopened(of_each_kind) as made:
        entries = await made.entries(of_each_kind.runs[kind])
    assert sum(MARKS[kind](entry) for entry in entries) == TIMES.get(kind, 1)


async def test_damaged_run_is_damaged_and_private_run_is_deleted(of_each_kind: Played) -> None:
    async with reopened(of_each_kind) as made:
        state = made.embedded.state
        with pytest.raises(Corrupt):
            await read_journal(of_each_kind.runs["damaged"], state.store, state.blobs)
        heads = {head.workflow: head for head in await state.store.heads(100, private=True)}
    assert Counter(head.status for head in heads.values()) == {"done": 9, "parked": 1}
    assert {head.workflow for head in heads.values() if head.private} == {"private", "waiting"}
    assert heads["private"].retention == "deleted"


def full(command: Command, run: str) -> Mapping[str, Any]:
    """Return what `gofer trace RUN --full --json` prints."""
    code, out = command("trace", run, "--full", "--json")
    assert code == 0
    return json.loads(out)


READABLE = tuple(kind for kind in PUBLIC if kind != "damaged")


@pytest.mark.parametrize("kind", READABLE)
def test_full_trace_has_the_question_the_answer_and_the_prompt_of_that_run(
    of_each_kind: Played, command: Command, kind: Kind
) -> None:
    code, shown = command("trace", of_each_kind.runs[kind], "--full")
    answer = ANSWERS.get(kind, "words in this thread.")
    assert code == 0
    assert [QUESTIONS[kind] in shown, answer in shown, LATER in shown] == [True, True, False]
    # A script has no prompt.
    assert (f"{THEN}-{kind}" in shown) == (kind != "scripted")


@pytest.mark.parametrize("kind", [kind for kind in READABLE if kind != "scripted"])
def test_bodies_in_the_full_trace_are_the_bytes_that_the_model_got(
    of_each_kind: Played, command: Command, kind: Kind
) -> None:
    steps = full(command, of_each_kind.runs[kind])["steps"]
    requests = [step for step in steps if step["kind"] == "llm.request"]
    bodies = sorted(step["body"] for step in requests if step["is_exact"])
    summaries = [body for body in of_each_kind.sent[kind] if b"too long for its window" in body]
    # The question for a summary is a question of its own, which the journal holds as such.
    assert bodies == sorted(body.decode() for body in of_each_kind.sent[kind] if body not in summaries)
    assert len(summaries) == (kind == "compacted")


def test_full_trace_of_refused_calls_has_tool_arguments_and_reason(of_each_kind: Played, command: Command) -> None:
    run = of_each_kind.runs["refused"]
    _, shown = command("trace", run, "--full")
    _, short = command("trace", run)
    for tool, arguments in REFUSED:
        assert re.search(rf"✗ {tool} +refused", short)
        assert json.dumps(arguments) in shown
    for reason in ("There is no tool 'slack_archive_channel'", "there is no words", "Slack knows no such channel"):
        assert reason in shown
    for code in ("unknown_tool", "broken", "channel_not_found"):
        assert code in short


def test_steps_of_a_run_are_in_the_order_of_its_journal(of_each_kind: Played, command: Command) -> None:
    kinds = [step["kind"] for step in full(command, of_each_kind.runs["answered"])["steps"]]
    told = [kind for kind in kinds if kind in ORDER]
    assert [kind for kind, _ in groupby(told)] == ORDER


ORDER = [
    "run.accepted",
    "tool.call",
    "tool.result",
    "tool.call",
    "tool.result",
    "agent.start",
    "message.received",
    "tool.call",
    "tool.result",
    *("llm.request", "context.snapshot", "llm.response", "tool.call", "tool.result"),
    *("llm.request", "context.snapshot", "llm.response", "run.concluded"),
    "tool.call",
    "tool.result",
    "agent.end",
]
"""Admission, the announcement, one turn with a call, the answer, its delivery."""


async def read(made: Company, path: str) -> httpx2.Response:
    """Return what a program reads at a path."""
    return await made.http.get(made.embedded.url + path, headers={"accept": "application/json"})


async def test_status_of_a_run_has_its_answer_verdicts_prompt_and_usage(of_each_kind: Played) -> None:
    async with reopened(of_each_kind) as made:
        for kind in READABLE:
            shown = (await read(made, f"/runs/{of_each_kind.runs[kind]}")).json()
            sent = of_each_kind.sent.get(kind, ())
            assert (shown["status"], shown["workflow"]) == ("done", kind)
            assert ANSWERS.get(kind, "words in this thread.") in shown["answer"]
            assert len(shown["checks"]) == len(CHECKS)
            assert shown["usage"]["llm_calls"] == len(sent)
            assert shown["usage"]["input_tokens"] == sum(len(body) // 4 for body in sent)
            prompt = await made.get(shown["links"]["prompt"])
            assert (f"{THEN}-{kind}" in prompt.text, LATER in prompt.text) == (kind != "scripted", False)


async def test_page_of_a_run_shows_its_words_as_text(of_each_kind: Played) -> None:
    async with reopened(of_each_kind) as made:
        page = await made.get(f"/runs/{of_each_kind.runs['refused']}")
    shown = html.unescape(page.text)
    assert all(words in shown for words in (QUESTIONS["refused"], ANSWERS["refused"], "The rota is out."))
    assert "<script" not in page.text


async def test_damaged_run_is_shown_up_to_the_damage(of_each_kind: Played, command: Command) -> None:
    run = of_each_kind.runs["damaged"]
    code, shown = await asyncio.to_thread(command, "trace", run, "--full")
    async with reopened(of_each_kind) as made:
        status = (await read(made, f"/runs/{run}")).json()
        steps = (await read(made, f"/runs/{run}/trace")).json()["steps"]
    assert code == 1
    assert QUESTIONS["damaged"] in shown
    assert "is damaged at frame 7" in shown
    assert "is damaged at frame 7" in json.dumps(status)
    assert steps[-1]["kind"] == "damage"


PRIVATE_PATHS = ("/runs/{run}", "/runs/{run}/trace", "/runs/{run}/trace?full=1", "/runs/{run}/prompt")


@pytest.mark.parametrize("kind", ["private", "waiting"])
async def test_operator_of_one_machine_reads_no_private_run_before_or_after_its_end(
    of_each_kind: Played, command: Command, kind: Kind
) -> None:
    run = of_each_kind.runs[kind]
    commands = [
        ("trace", run),
        ("trace", run, "--full"),
        ("trace", run, "--full", "--json"),
        ("trace", run[:8]),
        ("health", run),
        ("diff", run, of_each_kind.runs["answered"]),
        ("export", run, "--json"),
        ("runs", "--text", CANARY),
        ("runs", "--conversations", "--limit", "50"),
        ("runs", "--json"),
        ("stats", "--json"),
    ]
    for words in commands:
        code, shown = await asyncio.to_thread(command, *words)
        printed = shown.replace(repr(run), "").replace(repr(run[:8]), "")
        assert not any(secret in printed for secret in (CANARY, QUESTIONS[kind], run[:8], f"{THEN}-{kind}")), words
        assert (code == 0) == (words[0] in ("runs", "stats")), words
    async with reopened(of_each_kind) as made:
        for path in PRIVATE_PATHS:
            answer = await made.get(path.format(run=run))
            assert answer.status_code == 404
            assert CANARY not in answer.text


async def test_signed_in_member_reads_a_private_run_until_its_end_and_a_stranger_never(of_each_kind: Played) -> None:
    async with reopened(of_each_kind) as made, signed_in_pages(made) as pages:
        for kind in PRIVATE:
            for path in PRIVATE_PATHS:
                where = path.format(run=of_each_kind.runs[kind])
                member = await pages.get(CAPTAIN, where)
                stranger = await pages.get(STRANGER, where)
                assert (member.status_code == 200) == (kind == "waiting"), where
                assert (stranger.status_code, stranger.text.count(CANARY)) == (404, 0)
        words = await pages.get(CAPTAIN, f"/runs/{of_each_kind.runs['waiting']}/trace?full=1")
        public = await pages.get(STRANGER, f"/runs/{of_each_kind.runs['answered']}")
    assert CANARY in words.text
    assert public.json()["answer"] == ANSWERS["answered"]


async def test_run_of_a_channel_that_became_private_disappears_from_pages_and_commands(
    of_each_kind: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    copied = Played(tmp_path / "copy", of_each_kind.runs)
    shutil.copytree(of_each_kind.folder, copied.folder)
    monkeypatch.setenv("GOFER_DATA", str(copied.folder / "state"))
    run = of_each_kind.runs["answered"]
    async with reopened(copied) as made:
        assert (await made.get(f"/runs/{run}")).status_code == 200
        channels = made.slack.workspace.channels
        channel = of_each_kind.asked["answered"].channel
        channels[channel] = replace(channels[channel], kind="group")
        pages = [await made.get(path.format(run=run)) for path in PRIVATE_PATHS]
        listed = await made.get("/runs")
    assert [page.status_code for page in pages] == [404] * len(PRIVATE_PATHS)
    assert run not in listed.text
    for words in (("trace", run, "--full"), ("health", run), ("runs", "--text", "address form"), ("stats", "--json")):
        _, shown = await asyncio.to_thread(command, *words)
        assert ANSWERS["answered"] not in shown
        assert '"answered"' not in shown


async def test_shortened_id_finds_a_public_run_and_no_private_one(of_each_kind: Played, command: Command) -> None:
    async with reopened(of_each_kind) as made:
        public = await read(made, f"/runs/{of_each_kind.runs['answered'][:12]}")
        private = await read(made, f"/runs/{of_each_kind.runs['waiting'][:12]}")
    assert public.json()["run"] == of_each_kind.runs["answered"]
    assert private.status_code == 404
    assert (await asyncio.to_thread(command, "health", of_each_kind.runs["answered"][:12]))[0] == 0
    assert (await asyncio.to_thread(command, "health", of_each_kind.runs["waiting"][:12]))[0] != 0
