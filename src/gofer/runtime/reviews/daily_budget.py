"""The money that reviews cost on each day in UTC, and the days on which it reached its limit.

One memo for each day holds the sum, with an id of its last writer, so that two equal sums are told apart. Reviews at
the same time may exceed the limit by their own cost.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from gofer.journal.coordination import DAY_MS
from gofer.journal.store import Store
from gofer.values.canonical_json import as_object, as_text, decode, encode_text

_DAYS_KEPT = 30
"""The days for which memos are kept."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Spent:
    """The memo of one day."""

    usd: float = 0.0
    writer: str = ""
    stopped: bool = False
    """Whether a review was left out because of the limit."""


async def is_spent(store: Store, now: int, limit: float) -> bool:
    """Return whether the reviews of this day reached the limit in US dollars; note and log the first time.

    `now` is in unix milliseconds. Raises TemporaryError.
    """
    stored = await store.memo(_key(now))
    spent = _parsed(stored)
    if spent.usd < limit:
        return False
    if not spent.stopped:
        await store.exchange_memo(_key(now), stored, _text(replace(spent, stopped=True)), now)
        _log.warning("no more reviews on %s: they cost %.2f of %.2f USD a day", _day(now), spent.usd, limit)
    return True


async def add(store: Store, now: int, usd: float, writer: str) -> None:
    """Add the cost of a review in US dollars to the sum of its day. `writer` is a new id. Raises TemporaryError."""
    if not usd:
        return
    key = _key(now)
    stored = await store.memo(key)
    while True:
        spent = _parsed(stored)
        written = _text(replace(spent, usd=spent.usd + usd, writer=writer))
        found = await store.exchange_memo(key, stored, written, now)
        if found == written:
            return
        stored = found


async def stopped_days(store: Store, since: int, until: int) -> Sequence[str]:
    """Return the days such as `2026-11-23` on which reviews reached their limit, of the last 30 before `until`.

    Both times are in unix milliseconds. Raises TemporaryError.
    """
    first = max(since // DAY_MS, until // DAY_MS - _DAYS_KEPT)
    days = [day * DAY_MS for day in range(first, until // DAY_MS + 1)]
    return [_day(day) for day in days if _parsed(await store.memo(_key(day))).stopped]


def _key(at: int) -> str:
    return f"review-usd:{_day(at)}"


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def _text(spent: _Spent) -> str:
    return encode_text(asdict(spent))


def _parsed(stored: str | None) -> _Spent:
    if not stored:
        return _Spent()
    memo = as_object(decode(stored.encode()))
    usd = memo.get("usd")
    if not isinstance(usd, int | float):
        usd = 0.0
    return _Spent(float(usd), as_text(memo.get("writer")), memo.get("stopped") is True)
