"""The `ai_logs` channel: one summary for each public run that ended, and none for private runs."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gofer.journal.entries import RunFinished, ToolCall
from gofer.projections.tracing.span_ids import trace_id
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, links
from support.app.one_workflow import CAPTAIN, GENERAL, LEADS, Echo, gofer, quiet
from support.app.one_workflow import world as company_world

pytestmark = pytest.mark.anyio

LOGS = "C0AILOGS0"
MENTIONS = "when: [slack.mention]"
POSTED = 'ai_logs: "#ai-logs"\n'


def world(*, member: bool = True) -> Mapping[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(company_world()))
    members = [CAPTAIN, *(["U0GOFER0"] if member else [])]
    made["slack"]["channels"].append({"id": LOGS, "name": "ai-logs", "members": members})
    return made


def summaries(made: Company) -> Sequence[Message]:
    return made.slack.workspace.timeline(LOGS)


def text(message: Message) -> str:
    return str(message.blocks[0]["text"])


async def test_ai_logs_channel_gets_one_summary_per_ended_run(tmp_path: Path) -> None:
    model = Echo([("slack_get_user", {"name": "@Release Captain"})] * 2)
    workflow = f"{MENTIONS}\ntools: [slack_get_user]"
    defaults = f"{POSTED}log_links: https://logs.example/x?run={{run}}&trace={{trace}}\n"
    async with gofer(tmp_path, workflow, model, world(), defaults=defaults) as made:
        await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (posted,) = summaries(made)
        bundle = next(e.bundle for e in await made.entries(head.run) if hasattr(e, "bundle"))
        entries = await made.entries(head.run)
    first, *lines = text(posted).split("\n")
    assert first.startswith("`w`: done after ")
    assert first.rstrip().endswith(" s, 20 tokens in and 2 out, 0.0000 USD")
    assert [line.rstrip() for line in lines] == [
        f"Configuration: model `m`, coordinator llm, bundle {bundle[:12]}",
        "Tools: `slack_get_user` ×2",
        f"[Logs](https://logs.example/x?run={head.run}&trace={trace_id(head.run).hex()})",
    ]
    assert list(links(posted)) == ["w prompt", f"run {head.run[:8]}"]
    assert "hello" not in str(posted)
    calls = [entry.call for entry in entries if isinstance(entry, ToolCall)]
    assert (calls[-1], entries[-2]) == ("summary/1", RunFinished("done"))


async def test_no_summary_is_posted_without_the_ai_logs_setting(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS, within=world()) as made:
        await made.ask("@Gofer hello", "general")
        await made.ended()
        assert summaries(made) == []


async def test_limited_run_gets_a_summary_with_the_reason_and_ignored_run_gets_none(tmp_path: Path) -> None:
    workflow = "when: [slack.mention: {channels: ['#general', '#ai-logs']}]\nlimits_per_person: {runs_per_hour: 1}"
    async with gofer(tmp_path, workflow, within=world(), defaults=POSTED) as made:
        await made.ask("@Gofer hello", "deploys")
        await made.ask("@Gofer hello", "general")
        await made.ended(2)
        await made.ask("@Gofer hello", "general")
        heads = await made.ended(3)
        told = sorted(text(message).split(" after ")[0] for message in summaries(made))
        reasons = [line for message in summaries(made) for line in text(message).split("\n") if "Reason" in line]
    assert sorted(head.status for head in heads) == ["done", "ignored", "limited"]
    assert told == ["`w`: done", "`w`: limited"]
    assert len(reasons) == 1


async def test_private_run_gets_no_summary_in_ai_logs(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS, within=world(), defaults=POSTED) as made:
        await made.slack.say("U0SUPPT0", LEADS, made.slack.typed("@Gofer hello"))
        (head,) = await made.ended()
        assert head.private
        assert summaries(made) == []


async def test_missing_ai_logs_channel_does_not_fail_the_run(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS, defaults=POSTED) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        assert (head.status, len(made.answers(asked))) == ("done", 1)
        assert (await made.entries(head.run))[-2] == RunFinished("done")


async def test_summary_starts_no_run_where_every_message_does(tmp_path: Path) -> None:
    every = "when: [slack.mention, slack.message: {channels: ['#ai-logs', '#general']}]\nwho: [members, bots]"
    async with gofer(tmp_path, every, within=world(), defaults=POSTED) as made:
        await made.slack.say(CAPTAIN, GENERAL, "hello")
        await made.ended()
        assert len(await quiet(made)) == 1
        assert len(summaries(made)) == 1
