"""Usage rows in DynamoDB, and counters of their amounts.

Each run has a row in each scope. Each scope has counters, one for every SPENT_MS of acceptance and every shard. So a
reader of the amounts of a day reads at most some hundred small items, however many runs there were. One transaction
writes the amount of a row and adds the difference to a counter. The row says how much of it was counted (`counted`),
so a repeated write adds nothing. Rows of earlier versions have no `counted`: for a day after this version read counters
for the first time, readers read the rows too and add what was not counted.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from typing_extensions import override

from gofer.journal.coordination import DAY_MS, HOUR_MS, SPENT_MS, Spent, Usage, spent_until
from gofer.journal.store import Store
from gofer.stores.aws.items import SCOPES, age_key, row, run_pk
from gofer.stores.aws.table import (
    EXPIRES,
    LAST,
    Absent,
    Both,
    Condition,
    Delete,
    Item,
    Key,
    Lacks,
    OneOf,
    Put,
    Refused,
    Span,
    Table,
    Update,
    prefixed,
)
from gofer.values.errors import Corrupt, TemporaryError

_SHARDS = 4
"""The counters of each scope and step, so that runs that end at once rarely wait for each other."""
_DAYS = 2
"""Days for which rows and counters are kept: longer than the window of any usage limit."""
_ATTEMPTS = 5
"""How often an amount is written while another owner of the run writes it."""
_SINCE = Key("spent", "since")
"""The key of the item with the time at which this version read counters for the first time."""
_UPDATE_MS = HOUR_MS
"""The longest time for which an earlier version writes rows beside this one, while a stage is updated."""


class DynamoUsage(Store):
    """The part of the store for usage."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._since: int | None = None

    @override
    async def put_usage(self, rows: Sequence[Usage]) -> None:
        by_run: dict[str, list[Usage]] = {}
        for usage in rows:
            by_run.setdefault(usage.run, []).append(usage)
        await asyncio.gather(*(self._put_usage(run, of_run) for run, of_run in by_run.items()))

    @override
    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        return [_usage(scope, item) for item in await self._rows(scope, since)]

    @override
    async def spent(self, scope: str, now: int) -> Sequence[Spent]:
        first = spent_until(now - DAY_MS + 1)
        span = Span(pk=_spent_pk(scope), low=age_key(first), high=LAST)
        items, uncounted = await asyncio.gather(self.table.query(span), self._uncounted(scope, first, now))
        usd: defaultdict[int, list[float]] = defaultdict(list)
        for item in items:
            usd[_until(item)].append(_number(item, "usd"))
        for usage in uncounted:
            usd[spent_until(usage.at)].append(usage.usd)
        return [Spent(until, sum(parts)) for until, parts in sorted(usd.items())]

    @override
    async def drop_usage(self, run: str) -> None:
        times = await self._times(run)
        await asyncio.gather(*(self._drop_one(scope, at, run) for scope, at in times.items()))
        await self.table.delete_all([_time_key(run, scope) for scope in times])

    @override
    async def expire_usage(self, before: int) -> None:
        """Do nothing: each row and counter has an expiry, and DynamoDB removes it for nothing."""

    async def _put_usage(self, run: str, rows: Sequence[Usage]) -> None:
        times = await self._times(run)
        await asyncio.gather(*(self._put_one(usage, times.get(usage.scope)) for usage in rows))

    async def _put_one(self, usage: Usage, at: int | None) -> None:
        """Store the time of a usage row under its run, then the row. The time is part of the row's key."""
        is_new = False
        if at is None:
            time_item = row(_time_key(usage.run, usage.scope), at=usage.at, **_expires_of(usage.at))
            refused = await self.table.write(Put(time_item, Absent()))
            is_new = refused is None
            at = usage.at
            if refused:
                at = _refused_time(refused)
        key = _row_key(usage.scope, at, usage.run)
        stored = None
        if not is_new:
            stored = await self.table.get(key)
        for _ in range(_ATTEMPTS):
            refused = await self._raise_amount(key, Usage(usage.scope, usage.run, at, float(usage.usd)), stored)
            if refused is None:
                return
            stored = refused.stored
        raise TemporaryError("Other owners keep writing the usage of a run; try again.")

    async def _raise_amount(self, key: Key, usage: Usage, stored: Item | None) -> Refused | None:
        """Write a row with at least the amount of `usage`, and count what was not counted; `stored` is the row now."""
        usd = usage.usd
        counted = 0.0
        unchanged: Condition = Absent()
        if stored is not None:
            was = _number(stored, "usd")
            usd = max(usd, was)
            counted = _counted(stored)
            if usd == was == counted:
                return None
            unchanged = _is(stored)
        sets = {"run": usage.run, "at": usage.at, "usd": usd, "counted": usd, **_expires_of(usage.at)}
        change = Update(key, sets, removes=("gsi_pk", "gsi_sk"), when=unchanged)
        if usd == counted:
            return await self.table.write(change)
        return await self.table.transact([change, _add(usage, usd - counted)])

    async def _drop_one(self, scope: str, at: int, run: str) -> None:
        key = _row_key(scope, at, run)
        for _ in range(_ATTEMPTS):
            stored = await self.table.get(key)
            if stored is None:
                return
            counted = _counted(stored)
            writes: list[Delete | Update] = [Delete(key, _is(stored))]
            if counted:
                writes.append(_add(Usage(scope, run, at, counted), -counted))
                refused = await self.table.transact(writes)
            else:
                refused = await self.table.write(writes[0])
            if refused is None:
                return
        raise TemporaryError("Other owners keep writing the usage of a run; try again.")

    async def _uncounted(self, scope: str, first: int, now: int) -> Iterable[Usage]:
        """Return what rows of an earlier version hold beyond the counters; nothing once all are out of the window."""
        if await self._read_since(now) + _UPDATE_MS + SPENT_MS < first:
            return ()
        rows = [(item, _usage(scope, item)) for item in await self._rows(scope, first - SPENT_MS + 1)]
        return [
            Usage(scope, usage.run, usage.at, usage.usd - _counted(item))
            for item, usage in rows
            if usage.usd > _counted(item)
        ]

    async def _read_since(self, now: int) -> int:
        """Return when this version read the counters of any scope for the first time, unix milliseconds."""
        if self._since is None:
            item = await self.table.get(_SINCE)
            if item is None:
                refused = await self.table.write(Put(row(_SINCE, at=now), Absent()))
                item = {"at": now}
                if refused and refused.stored:
                    item = refused.stored
            self._since = int(_number(item, "at"))
        return self._since

    async def _rows(self, scope: str, since: int) -> Sequence[Item]:
        return await self.table.query(Span(pk=f"usage#{scope}", low=age_key(since), high=LAST))

    async def _times(self, run: str) -> Mapping[str, int]:
        """Return the times of a run's usage rows by scope; they are part of the keys of the rows."""
        items = await self.table.query(prefixed(run_pk(run), SCOPES))
        return {str(item["sk"]).removeprefix(SCOPES): _time(item) for item in items}


def _add(usage: Usage, usd: float) -> Update:
    """Return the write that adds an amount to the counter of a run."""
    until = spent_until(usage.at)
    shard = crc32(usage.run.encode()) % _SHARDS
    key = Key(_spent_pk(usage.scope), age_key(until, str(shard)))
    return Update(key, _expires_of(until), adds={"usd": usd})


def _is(stored: Item) -> Condition:
    """Return the condition that a row was not written since it was read."""
    same = OneOf("usd", [stored["usd"]])
    if "counted" in stored:
        return Both([same, OneOf("counted", [stored["counted"]])])
    return Both([same, Lacks("counted")])


def _counted(item: Item) -> float:
    if "counted" in item:
        return _number(item, "counted")
    return 0.0


def _spent_pk(scope: str) -> str:
    return f"spent#{scope}"


def _row_key(scope: str, at: int, run: str) -> Key:
    return Key(f"usage#{scope}", age_key(at, run))


def _time_key(run: str, scope: str) -> Key:
    return Key(run_pk(run), SCOPES + scope)


def _expires_of(at_ms: int) -> Mapping[str, int]:
    return {EXPIRES: int((at_ms + _DAYS * DAY_MS) / 1000)}


def _refused_time(refused: Refused) -> int:
    return _time(refused.stored or {})


def _time(item: Item) -> int:
    at = item.get("at")
    if not isinstance(at, int):
        raise _damaged()
    return at


def _until(item: Item) -> int:
    return int(str(item["sk"]).partition("#")[0])


def _number(item: Item, name: str) -> float:
    value = item.get(name)
    if not isinstance(value, int | float):
        raise _damaged()
    return float(value)


def _usage(scope: str, item: Item) -> Usage:
    run = item.get("run")
    if not isinstance(run, str):
        raise _damaged()
    return Usage(scope, run, _time(item), _number(item, "usd"))


def _damaged() -> Corrupt:
    return Corrupt("A usage row is damaged; restore the table from a backup.")
