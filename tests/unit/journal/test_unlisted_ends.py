"""Counts of ended runs that are in no list."""

import asyncio

import pytest

from gofer.journal.coordination import DAY_MS, HOUR_MS
from gofer.journal.unlisted_ends import count, recent
from gofer.projections.listing import unlisted_lines
from gofer.stores.memory.journal import MemoryStore

pytestmark = pytest.mark.anyio

NOON = 1_795_262_400_000
"""2026-11-21 12:00 UTC, unix milliseconds."""


async def test_unlisted_ends_are_grouped_by_hour_and_reason() -> None:
    store = MemoryStore()
    await count(store, "begin", "outage", "Slack", NOON + 5)
    await count(store, "begin", "outage", "Slack", NOON + HOUR_MS - 1)
    await count(store, "begin", "credential", "Jira", NOON + 7)
    await count(store, "answer", "outage", "Slack", NOON + HOUR_MS)
    assert unlisted_lines(await recent(store, NOON + HOUR_MS)) == [
        "21 November, 12:00 to 13:00 UTC: 1 run could not begin: Jira did not accept Gofer's credential; renew it.",
        "21 November, 12:00 to 13:00 UTC: 2 runs could not begin: Slack did not answer.",
        "21 November, 13:00 to 14:00 UTC: 1 run could not be answered: Slack did not answer.",
    ]


async def test_concurrent_unlisted_ends_are_all_counted() -> None:
    store = MemoryStore()
    await asyncio.gather(*(count(store, "go on", "poison", "", NOON) for _ in range(50)))
    (ends,) = await recent(store, NOON)
    assert (ends.count, ends.sentence()) == (50, "50 runs could not go on: workers failed again and again.")


async def test_unlisted_ends_are_shown_for_two_days() -> None:
    store = MemoryStore()
    await count(store, "begin", "fault", "", NOON)
    assert len(await recent(store, NOON + DAY_MS)) == 1
    assert await recent(store, NOON + 2 * DAY_MS) == []
