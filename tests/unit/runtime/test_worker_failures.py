"""Outages, faults and deleted messages during a run, as people and operators see them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gofer.journal import inbox
from gofer.journal.entries import RunCancelled, RunFinished, RunRetried
from gofer.journal.log import read_journal
from gofer.journal.unlisted_ends import recent
from gofer.runtime.run_reports import Ended, Observers
from gofer.runtime.run_retry import retry
from gofer.sources.slack.api import SlackRefusal
from gofer.stores.one_place import Stores
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.errors import TemporaryError
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

HOUR = 3_600.0


def failing(made: MemoryWorker, name: str, error: Exception, until: float = 0.0) -> None:
    """Let a tool of Slack fail, either always or for some seconds."""
    tools = dict(made.worker.services.tools)
    tool = tools[name]
    began = made.clock.now()
    act: Callable[[Call, Any], Awaitable[ToolResult]] = tool.act

    async def fails(call: Call, arguments: Any) -> ToolResult:
        if not until or made.clock.now() < began + until:
            raise error
        return await act(call, arguments)

    tools[name] = replace(tool, act=fails, target=replace(tool.target, system="Slack"))
    services = replace(made.worker.services, tools=tools)
    made.worker = replace(made.worker, services=services, alone=True)


async def pass_time(made: MemoryWorker, seconds: float) -> None:
    """Process queue messages for some time, a minute at a time."""
    for _ in range(int(seconds / 60)):
        await made.work_once()
        made.clock.advance(60)
        await made.work_once()


def listening(made: MemoryWorker) -> list[Ended]:
    """Return the list to which the worker reports ended runs."""
    reports: list[Ended] = []
    made.worker = replace(made.worker, observers=Observers(reports.append))
    return reports


def finished(reports: list[Ended]) -> RunFinished:
    (ended,) = reports
    assert ended.progress is not None
    assert ended.progress.finished is not None
    return ended.progress.finished


async def lines(made: MemoryWorker) -> list[str]:
    return [one.sentence() for one in await recent(made.store, int(made.clock.now() * 1000))]


AWAY = TemporaryError("Slack did not answer (HTTP 503).")


@pytest.mark.parametrize("tool", ["slack_get_user", "slack_read_thread", "slack_update_message"])
@pytest.mark.parametrize("minutes", [1, 25])
async def test_mention_is_answered_after_an_outage(tool: str, minutes: int) -> None:
    made = memory_worker(says("Hello."))
    failing(made, tool, AWAY, until=minutes * 60)
    await made.accept("run1")
    await pass_time(made, HOUR)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")
    assert await lines(made) == []


async def test_run_list_shows_the_outage_that_a_run_waits_for() -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_update_message", AWAY)
    await made.accept("run1")
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.private) == ("parked", False)
    until = "next attempt 12:01 UTC, last 12:00 UTC on 22 November"
    assert head.reason == f"Slack did not answer (HTTP 503); {until}"


async def test_answer_is_delivered_after_an_outage_of_hours() -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_update_message", AWAY, until=20 * HOUR)
    await made.accept("run1")
    await pass_time(made, 21 * HOUR)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_retry_makes_the_next_delivery_attempt_of_an_answer_now() -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_update_message", AWAY, until=HOUR)
    await made.accept("run1")
    await pass_time(made, HOUR - 60)
    head = await made.store.head("run1")
    assert head is not None
    assert head.wakes_at / 1000 > made.clock.now() + 60
    made.clock.advance(61)
    retried = await retry("run1", Stores(made.store, made.blobs, made.queue), made.clock, "operator")
    assert retried.enqueued
    await made.work_once()
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")
    entries = [item.entry for item in await read_journal("run1", made.store, made.blobs)]
    assert RunRetried("an operator", "retry-operator") in entries


async def test_run_that_could_not_begin_is_counted_and_not_listed(caplog: pytest.LogCaptureFixture) -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_get_user", AWAY)
    failing(made, "slack_post_message", SlackRefusal("chat.postMessage", "is_archived"))
    reports = listening(made)
    await made.accept("run1")
    await pass_time(made, HOUR)
    assert made.posted == []
    assert await made.store.heads(9) == []
    assert await lines(made) == ["1 run could not begin: Slack did not answer."]
    (ended,) = reports
    assert ended.unlisted is not None
    assert "could not begin" in caplog.text
    assert "run1" not in "".join(line for line in caplog.text.splitlines() if "could not begin" in line)


async def test_unreadable_thread_is_answered_with_the_reason() -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_read_thread", AWAY)
    await made.accept("run1")
    await pass_time(made, HOUR)
    assert made.posted == [
        "I could not read this thread, because Slack did not answer for 30 minutes. Please ask again."
    ]


async def test_missing_channel_membership_is_answered_with_a_request_to_invite_gofer() -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_read_thread", SlackRefusal("conversations.replies", "channel_not_found"))
    reports = listening(made)
    await made.accept("run1")
    await made.work_once()
    assert made.posted == ["I am not a member of this channel. Please invite me and ask again."]
    assert finished(reports).reason.startswith("the thread could not be read: Slack refused conversations.replies")


@pytest.mark.parametrize("code", ["thread_not_found", "message_not_found"])
async def test_run_of_a_deleted_mention_is_ignored_without_an_answer(code: str) -> None:
    made = memory_worker(says("Hello."))
    failing(made, "slack_read_thread", SlackRefusal("conversations.replies", code))
    reports = listening(made)
    await made.accept("run1")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == ([], "ignored")
    assert finished(reports).reason == "the message that it is about was deleted"


async def test_fault_before_the_start_of_a_run_fails_the_run_with_a_reason() -> None:
    made = memory_worker(says("Hello."))
    tools = dict(made.worker.services.tools)
    tools["slack_get_user"] = _broken(tools["slack_get_user"])
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    reports = listening(made)
    await made.accept("run1")
    await made.work_once()
    ended = finished(reports)
    assert (ended.status, ended.cause) == ("failed", "fault")
    assert ended.reason == "slack_get_user was not called: the check of its arguments failed with KeyError."
    assert made.posted == ["I could not begin because of an internal error. Please tell #o."]
    assert "secret" not in ended.reason
    assert await lines(made) == ["1 run could not begin: Gofer itself failed; the log names the error."]


def _broken(tool: Tool[Any]) -> Tool[Any]:
    class Broken(tool.arguments):  # type: ignore[name-defined]
        @classmethod
        def model_validate(cls, *args: object, **kwargs: object) -> Any:
            raise KeyError("a secret")

    return replace(tool, arguments=Broken)


async def test_answer_edit_refused_after_an_attempt_without_response_is_posted_anew() -> None:
    made = memory_worker(says("Hello."))
    tools = dict(made.worker.services.tools)
    failures = [AWAY, SlackRefusal("chat.update", "edit_window_closed")]

    async def fails(call: Call, arguments: Any) -> ToolResult:
        raise failures.pop(0)

    tools["slack_update_message"] = replace(tools["slack_update_message"], act=fails)
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == (["", "Hello."], "done")


async def test_answer_waits_for_a_renewed_slack_token() -> None:
    made = memory_worker(says("Hello."))
    error = SlackRefusal("chat.update", "token_revoked")
    failing(made, "slack_update_message", error, until=5 * HOUR)
    await made.accept("run1")
    await made.work_once()
    assert await made.status("run1") == "parked"
    await pass_time(made, 6 * HOUR)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_mention_deleted_during_the_last_model_call_gets_no_answer() -> None:
    made = memory_worker(says("Hello."))

    class Deleted:
        """A model during whose answer the person deletes the message."""

        async def ask(self, body: bytes, timeout: float) -> object:
            await inbox.put(made.store, "run1", "stop-1", RunCancelled("Ada", silent=True))
            return says("Hello.")

    services = replace(made.worker.services, model=Deleted())
    made.worker = replace(made.worker, services=services)
    await made.accept("run1")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == ([""], "cancelled")


async def test_private_run_that_crashes_every_worker_in_delivery_is_counted() -> None:
    made = memory_worker(says("Hello."))
    tools = dict(made.worker.services.tools)

    async def private(call: Call, arguments: Any) -> ToolResult:
        return ToolResult("Thread", "read", {"private": True})

    tools["slack_read_thread"] = replace(tools["slack_read_thread"], act=private)
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    made.crash_in.add("slack_update_message")
    await made.accept("run1")
    for _ in range(40):
        await made.work_once_or_crash()
        made.clock.advance(130)
    assert await lines(made) == ["1 run could not be answered: workers failed again and again."]
