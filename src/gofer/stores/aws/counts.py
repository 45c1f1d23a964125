"""Leases, usage rows and memos in DynamoDB, each written under a condition.

Each item has an expiry time after which DynamoDB may remove it at no cost, at any time or never. Readers therefore
compare the times inside the items and draw no conclusion from a missing or remaining item.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from typing_extensions import override

from gofer.journal.coordination import DAY_MS, Usage
from gofer.journal.store import Store
from gofer.stores.aws.items import REMEMBERED, SCOPES, USED, after, age_key, lease_key, memo_key, row, run_pk
from gofer.stores.aws.table import (
    EXPIRES,
    FIRST,
    LAST,
    Absent,
    AtMost,
    Delete,
    Either,
    Indexed,
    Item,
    Key,
    OneOf,
    Put,
    Refused,
    Span,
    Table,
    Update,
    prefixed,
)
from gofer.values.errors import Corrupt

_LEASE_SECONDS = 86_400
"""Seconds after its end for which a lease that was not released is kept."""
_USAGE_DAYS = 3
"""Days for which a usage row is kept: longer than the window of any usage limit."""
_MEMO_DAYS = 400
"""Days for which a memo is kept: longer than any run looks back."""
_AT_ONCE = 1_000


class DynamoCounts(Store):
    """The part of the store for leases, usage and memos."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @override
    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        until = now + seconds
        item = row(lease_key(conversation), owner=owner, until=until, **_expires(until + _LEASE_SECONDS))
        free = Either([Absent(), OneOf("owner", [owner]), AtMost("until", now)])
        return await self.table.write(Put(item, free)) is None

    @override
    async def release(self, conversation: str, owner: str) -> None:
        await self.table.write(Delete(lease_key(conversation), OneOf("owner", [owner])))

    @override
    async def drop_leases(self) -> None:
        await self.table.delete_all(await self.table.scan("lease"))

    @override
    async def put_usage(self, rows: Sequence[Usage]) -> None:
        by_run: dict[str, list[Usage]] = {}
        for usage in rows:
            by_run.setdefault(usage.run, []).append(usage)
        await asyncio.gather(*(self._put_usage(run, of_run) for run, of_run in by_run.items()))

    @override
    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        return [
            _usage(scope, item)
            for item in await self.table.query(Span(pk=_scope_pk(scope), low=age_key(since), high=LAST))
        ]

    @override
    async def drop_usage(self, run: str) -> None:
        times = await self._usage_times(run)
        await self.table.delete_all([_usage_key(scope, at, run) for scope, at in times.items()])
        await self.table.delete_all([_usage_time_key(run, scope) for scope in times])

    @override
    async def expire_usage(self, before: int) -> None:
        async for lines in _pages(self.table, USED, before):
            keys = [line.key for line in lines]
            runs = [key.sk.partition("#")[2] for key in keys]
            times = [_usage_time_key(run, key.pk.partition("#")[2]) for run, key in zip(runs, keys, strict=True)]
            await self.table.delete_all([*keys, *times])

    @override
    async def put_memo(self, key: str, value: str, at: int) -> None:
        await self.table.write(Put(_memo(key, value, at)))

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        when = Absent() if was is None else OneOf("value", [was])
        refused = await self.table.write(Put(_memo(key, value, at), when))
        if refused is None:
            return value
        return _memo_value(refused.stored) or ""

    @override
    async def memo(self, key: str) -> str | None:
        return _memo_value(await self.table.get(memo_key(key)))

    @override
    async def expire_memos(self, before: int) -> None:
        async for lines in _pages(self.table, REMEMBERED, before):
            # The index may be stale: a memo that was written again since then is kept.
            old = AtMost("at", before - 1)
            await asyncio.gather(*(self.table.write(Delete(line.key, old)) for line in lines))

    async def _put_usage(self, run: str, rows: Sequence[Usage]) -> None:
        times = await self._usage_times(run)
        await asyncio.gather(*(self._put_one(usage, times.get(usage.scope)) for usage in rows))

    async def _put_one(self, usage: Usage, at: int | None) -> None:
        """Store the time of a usage row under its run, then the row. The time is part of the row's key."""
        if at is None:
            time_item = row(_usage_time_key(usage.run, usage.scope), at=usage.at, **_expires_of(usage.at, _USAGE_DAYS))
            refused = await self.table.write(Put(time_item, Absent()))
            at = usage.at
            if refused:
                at = _refused_time(refused)
        key = _usage_key(usage.scope, at, usage.run)
        sets = {"run": usage.run, "at": at, "usd": float(usage.usd), **_expires_of(at, _USAGE_DAYS)}
        index = {"gsi_pk": USED, "gsi_sk": age_key(at, usage.run, usage.scope)}
        await self.table.write(Update(key, {**sets, **index}, when=Either([Absent(), AtMost("usd", usage.usd)])))

    async def _usage_times(self, run: str) -> Mapping[str, int]:
        """Return the times of a run's usage rows by scope; they are part of the keys of the rows."""
        items = await self.table.query(prefixed(run_pk(run), SCOPES))
        return {str(item["sk"]).removeprefix(SCOPES): _time(item) for item in items}


async def _pages(table: Table, partition: str, before: int) -> AsyncIterator[Sequence[Indexed]]:
    span = Span(pk=partition, low=FIRST, high=age_key(before))
    while lines := await table.index(span, limit=_AT_ONCE):
        yield lines
        span = Span(pk=partition, low=after(lines[-1].sort), high=span.high)


def _scope_pk(scope: str) -> str:
    return f"usage#{scope}"


def _usage_key(scope: str, at: int, run: str) -> Key:
    return Key(_scope_pk(scope), age_key(at, run))


def _usage_time_key(run: str, scope: str) -> Key:
    return Key(run_pk(run), SCOPES + scope)


def _memo(key: str, value: str, at: int) -> Item:
    item_key = memo_key(key)
    index = {"gsi_pk": REMEMBERED, "gsi_sk": age_key(at, item_key.pk)}
    return row(item_key, value=value, at=at, **index, **_expires_of(at, _MEMO_DAYS))


def _expires(at: float) -> Mapping[str, int]:
    return {EXPIRES: int(at)}


def _expires_of(at_ms: int, days: int) -> Mapping[str, int]:
    return _expires((at_ms + days * DAY_MS) / 1000)


def _refused_time(refused: Refused) -> int:
    return _time(refused.stored or {})


def _time(item: Item) -> int:
    at = item.get("at")
    if not isinstance(at, int):
        raise Corrupt("A usage row is damaged; restore the table from a backup.")
    return at


def _memo_value(item: Item | None) -> str | None:
    if item is None:
        return None
    return str(item.get("value", ""))


def _usage(scope: str, item: Item) -> Usage:
    run = item.get("run")
    usd = item.get("usd")
    if not isinstance(run, str) or not isinstance(usd, int | float):
        raise Corrupt("A usage row is damaged; restore the table from a backup.")
    return Usage(scope, run, _time(item), float(usd))
