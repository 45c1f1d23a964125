"""The backlog: how many runs wait for what, also runs in unknown places, and one line a minute in the log."""

import logging

import pytest

from gofer.journal.coordination import Head
from gofer.runtime.backlog import BacklogWatch, backlog_lines, read_backlog
from gofer.stores.memory.journal import MemoryStore
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio
AT = int(NOON * 1000)


async def filled() -> MemoryStore:
    """Return a store with queued, parked, working and ended runs, most of them in unknown places."""
    store = MemoryStore()
    for number in range(1_200):
        await store.create_head(Head(f"queued{number}", "imports", f"c{number}", AT + number))
    for number, minute in enumerate(("05", "09")):
        reason = f"Jira did not answer; next attempt 12:{minute} UTC"
        parked = Head(f"parked{number}", "answer", f"p{number}", AT - 120_000 + number)
        await store.create_head(parked.now("parked", AT, reason=reason, wakes_at=AT + 900_000, private=False))
    asked = Head("asked", "answer", "a", AT)
    reason = "waits for approval of jira_create_issue by U1"
    await store.create_head(asked.now("parked", AT, reason=reason, wakes_at=AT + 900_000))
    for status in ("running", "done"):
        await store.create_head(Head(status, "answer", status, AT).now(status, AT))
    return store


async def test_backlog_counts_waiting_runs_by_cause_with_the_oldest() -> None:
    clock = SetClock()
    assert backlog_lines(await read_backlog(await filled()), clock) == [
        "1,200 runs wait for a free worker, the oldest since 12:00 UTC.",
        "2 runs wait (Jira did not answer), the oldest since 11:58 UTC.",
        "1 run waits for approval, the oldest since 12:00 UTC.",
    ]


async def test_log_tells_of_a_backlog_in_one_line_without_waits_for_people(caplog: pytest.LogCaptureFixture) -> None:
    clock = SetClock()
    watch = BacklogWatch(await filled(), clock)
    with caplog.at_level(logging.WARNING):
        await watch.log()
        clock.advance(90)
        await watch.log()
    jira = "2 runs wait (Jira did not answer), the oldest since 11:58 UTC."
    queued = "1,200 runs wait for a free worker, the oldest since 12:00 UTC."
    assert caplog.messages == [jira, f"{queued} {jira}"]


async def test_readings_within_seconds_of_each_other_ask_the_store_once() -> None:
    clock = SetClock()
    store = await filled()
    watch = BacklogWatch(store, clock)
    before = await watch.current()
    await store.create_head(Head("later", "answer", "later", AT))
    assert await watch.current() == before
    clock.advance(11)
    assert (await watch.current())[0].count == 1_201
