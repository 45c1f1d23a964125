"""Mentions answered by a model on one's own machine: with the least window, and with a template that demands roles."""

import asyncio
import copy
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from gofer.journal.entries import Recorded, RunParked
from gofer.models.abilities import LEAST_WINDOW
from gofer.projections.tracing import trace
from gofer.values.tokens import estimate
from gofer_simulators.demo import demo_world
from support.app.company import Company, ask_about_the_decision
from support.app.own_model import at_own_model
from support.models import mistral_template
from support.models.deciding_provider import Said, Sent, deciding

pytestmark = pytest.mark.anyio
LINK = re.compile(r"https://[^\s|>]+/archives/\w+/p\d+")
ANSWER = "Yes: nobody deploys until the incident is over."


def larger_than_the_window(sent: Sent) -> Response | None:
    """Refuse a request without room for an answer in the least window, in the words of llama.cpp."""
    tokens = estimate(sent.body.decode())
    if tokens < LEAST_WINDOW:
        return None
    words = f"request ({tokens} tokens) exceeds the available context size ({LEAST_WINDOW} tokens), try increasing it"
    return JSONResponse({"error": {"code": 400, "message": words, "type": "exceed_context_size_error"}}, 400)


def roles_in_a_row(sent: Sent) -> Response | None:
    return None if mistral_template.alternates(sent.messages) else mistral_template.refused()


def reads_then_answers(turns: int) -> Callable[[Sent], Said]:
    """Return a model that reads the thread of the link so many times, and then answers."""

    def decide(sent: Sent) -> Said:
        if sent.sums_up:
            return "Goal: does the decision block the deploy? The thread was read. Next: answer."
        if sent.turns < turns and len(sent.results) < turns:
            (link, *_) = LINK.findall(sent.first)
            return [("slack_read_thread", {"link": link})]
        return ANSWER

    return decide


def long_threads() -> Mapping[str, Any]:
    """Return the demo's company in which each thread has forty more replies of eighty words."""
    world: dict[str, Any] = copy.deepcopy(dict(demo_world()))
    for message in world["slack"]["messages"]:
        replies = message.setdefault("replies", [])
        replies += [
            {"user": "U0CAPTN0", "minutes_ago": 1, "text": f"Note {n}. " + "The retry fix waits. " * 20}
            for n in range(40)
        ]
    return world


async def test_mention_in_a_long_thread_is_answered_with_the_least_window(tmp_path: Path) -> None:
    async with (
        deciding(reads_then_answers(4), refuses=larger_than_the_window) as (provider, url),
        at_own_model(tmp_path, url, f"window: {LEAST_WINDOW}", world=long_threads()) as made,
    ):
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    assert (head.status, head.reason, reply.text) == ("done", "", ANSWER)
    assert not any(map(larger_than_the_window, provider.sent))
    assert max(estimate(sent.body.decode()) for sent in provider.sent) > LEAST_WINDOW / 2


async def test_template_that_demands_alternating_roles_ends_a_run_with_the_remedy(tmp_path: Path) -> None:
    async with (
        deciding(reads_then_answers(2), refuses=roles_in_a_row) as (provider, url),
        at_own_model(tmp_path, url, "window: 32768") as made,
    ):
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    assert (head.status, len(provider.sent)) == ("failed", 1)
    assert head.reason == (
        "The model's template refuses two messages of one role in a row (HTTP 500, type server_error); write "
        "`alternate_roles: true` for this model in agents/defaults.yaml."
    )
    assert "The language model refuses the form of a conversation with me." in reply.text


async def test_run_with_alternate_roles_is_answered_by_such_a_template(tmp_path: Path) -> None:
    async with (
        deciding(reads_then_answers(2), refuses=roles_in_a_row) as (provider, url),
        at_own_model(tmp_path, url, "window: 32768, alternate_roles: true") as made,
    ):
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    assert (head.status, head.reason, reply.text) == ("done", "", ANSWER)
    assert [len(sent.results) for sent in provider.sent] == [0, 1, 2]


async def test_trace_and_log_name_an_absent_server_with_the_same_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, free_tcp_port: int
) -> None:
    url = f"http://127.0.0.1:{free_tcp_port}/v1"
    async with at_own_model(tmp_path, url, "window: 32768") as made:
        await made.ask("@Gofer hello", "general")
        run, entries = await parked(made)
        (span,) = [span for span in trace.project(entries) if span.kind == "llm"]
    words = f"The model could not be reached: 127.0.0.1 at port {free_tcp_port} refuses connections."
    assert words in str(span.attributes["gofer.deferred"])
    logged = [record for record in caplog.records if getattr(record, "fields", {}).get("run") == run]
    assert f"a model gave no answer: {words}" in [record.getMessage() for record in logged]


async def parked(made: Company) -> tuple[str, Sequence[Recorded]]:
    """Return a run and its journal once the run is parked."""
    async with asyncio.timeout(60):
        while True:
            for head in await made.embedded.state.store.heads(10, private=True):
                entries = await made.journal(head.run)
                if any(isinstance(item.entry, RunParked) for item in entries):
                    return head.run, entries
            await asyncio.sleep(0.01)
