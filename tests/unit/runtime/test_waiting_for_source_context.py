"""A run whose thread cannot be read yet: its asker reads once what it waits for, and the answer replaces that."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from gofer.journal import inbox
from gofer.journal.entries import RunCancelled
from gofer.sources.slack.api import SlackRefusal
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Arguments, Call, InDoubt, Tool, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

AWAY = TemporaryError("Slack answered 503")
BUSY = ToolError("Slack accepts no more requests", code="ratelimited", retry_after=60.0)
GONE = SlackRefusal("conversations.replies", "thread_not_found")
SIGN = (
    "_On it. I cannot read this thread yet, because Slack does not answer that request. I keep trying until 12:30 UTC. "
    "The answer will replace this message._"
)
Act = Callable[[Call, Any], Awaitable[ToolResult]]


def change(made: MemoryWorker, name: str, act: Act, **fields: object) -> None:
    """Replace the function of a tool of Slack, and other fields of it."""
    tool = made.worker.services.tools[name]
    assert isinstance(tool, Tool)
    changed = replace(tool, act=act, target=replace(tool.target, system="Slack"), **fields)
    tools = {**made.worker.services.tools, name: changed}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools), alone=True)


def failing(made: MemoryWorker, name: str, *errors: Exception | None) -> list[Exception | None]:
    """Let the calls of a tool fail, each with an error, None for a call that succeeds; return those that are left."""
    left = list(errors)
    act: Act = made.worker.services.tools[name].act

    async def fails(call: Call, arguments: Arguments) -> ToolResult:
        if left and (error := left.pop(0)):
            raise error
        return await act(call, arguments)

    change(made, name, fails)
    return left


async def begun(*errors: Exception | None) -> MemoryWorker:
    """Return a worker whose run could not read its thread the first time, with the errors of the later readings."""
    made = memory_worker(says("Hello."))
    failing(made, "slack_read_thread", *errors)
    await made.accept("run1")
    await made.work_once()
    return made


async def pass_time(made: MemoryWorker, minutes: int = 40) -> None:
    for _ in range(minutes):
        made.clock.advance(60)
        await made.work_once_or_crash()


def shown(made: MemoryWorker) -> list[str]:
    """Return the messages that were not deleted."""
    return [text for text in made.posted if text]


@pytest.mark.parametrize(
    ("error", "trouble"),
    [(AWAY, "does not answer that request"), (BUSY, "accepts no more requests of this kind now")],
)
async def test_unread_thread_is_announced_once_and_the_answer_replaces_the_message(
    error: Exception, trouble: str
) -> None:
    made = await begun(*[error] * 12)
    (sign,) = made.posted
    assert f"I cannot read this thread yet, because Slack {trouble}. I keep trying until" in sign
    made.clock.advance(60)
    await made.work_once()
    assert (made.posted, made.edits, await made.status("run1")) == ([sign], [], "parked")
    await pass_time(made)
    assert (made.posted, made.edits, await made.status("run1")) == (["Hello."], ["Hello."], "done")


async def test_reason_of_a_run_that_never_read_its_thread_replaces_the_sign() -> None:
    made = await begun(*[AWAY] * 100)
    assert made.posted == [SIGN]
    await pass_time(made)
    told = "I could not read this thread, because Slack did not answer for 30 minutes. Please ask again."
    assert (made.posted, await made.status("run1")) == ([told], "failed")


async def test_sign_of_a_mention_that_was_deleted_meanwhile_is_deleted() -> None:
    made = await begun(*[AWAY] * 3, GONE)
    assert made.posted == [SIGN]
    await pass_time(made)
    assert (shown(made), await made.status("run1")) == ([], "ignored")


async def test_person_without_the_right_to_start_the_workflow_reads_no_announcement() -> None:
    made = memory_worker(says("Hello."))
    made.kind = "guest"
    failing(made, "slack_read_thread", *[AWAY] * 3)
    await made.accept("run1")
    await pass_time(made)
    assert (made.posted, await made.status("run1")) == ([], "ignored")


async def test_sign_that_cannot_be_posted_either_is_posted_with_a_later_reading() -> None:
    made = memory_worker(says("Hello."))
    reads = failing(made, "slack_read_thread", *[AWAY] * 12)
    failing(made, "slack_post_message", BUSY)
    await made.accept("run1")
    await made.work_once()
    assert made.posted == []
    await pass_time(made, 2)
    assert (made.posted, len(reads)) == ([SIGN], 3)
    await pass_time(made)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


ENDS: Mapping[str, tuple[Sequence[str], str]] = {
    "answered": (["Hello."], "done"),
    "cancelled": ([], "cancelled"),
    "deleted": ([], "ignored"),
}
"""The messages and the status that each end of a run leaves."""


@pytest.mark.parametrize(("arrived", "end"), [*product((True, False), ENDS)])
async def test_no_second_message_follows_a_crash_while_the_sign_was_posted(arrived: bool, end: str) -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_read_thread", *[AWAY] * 3, GONE if end == "deleted" else None)
    crash = [True]
    act: Act = made.worker.services.tools["slack_post_message"].act

    async def post(call: Call, arguments: PostMessage) -> ToolResult:
        if crash and not arrived:
            crash.clear()
            raise Crashed
        posted = await act(call, arguments)
        if crash:
            crash.clear()
            raise Crashed
        return posted

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        if made.posted:
            return ToolResult("Posted", "posted", {"channel": "C1", "ts": "1.0"})
        return None

    change(made, "slack_post_message", post, effect="lookup", in_doubt=InDoubt(look=look))
    await made.accept("run1")
    await made.work_once_or_crash()
    assert made.posted == [SIGN] * arrived
    if end == "cancelled":
        await inbox.put(made.store, "run1", "c1", RunCancelled("Ada", "c1", silent=True))
    made.clock.advance(130)
    await pass_time(made)
    assert (shown(made), await made.status("run1")) == ENDS[end]
