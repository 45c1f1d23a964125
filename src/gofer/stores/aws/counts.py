"""Leases, usage and memos in DynamoDB.

Each is an item under a condition. They have a time after which DynamoDB may remove them for nothing; what they say is
decided by the times in them, whether they are still there or not.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from typing_extensions import override

from gofer.journal.coordination import DAY_MS, Usage
from gofer.journal.store import Store
from gofer.stores.aws.items import REMEMBERED, SCOPES, USED, after, aged, lease_key, memo_key, row, run_pk
from gofer.stores.aws.table import (
    EXPIRES,
    FIRST,
    LAST,
    AtMost,
    Delete,
    Either,
    Free,
    Indexed,
    Is,
    Item,
    Key,
    Put,
    Refused,
    Span,
    Table,
    Update,
    prefixed,
)
from gofer.values.errors import Corrupt

_LEASE_STAYS = 86_400
"""Seconds that a lease that was not given back is kept."""
_USAGE_STAYS = 3
"""Days; longer than any limit looks back."""
_MEMO_STAYS = 400
"""Days; longer than any run looks back."""
_AT_ONCE = 1_000


class DynamoCounts(Store):
    """The part of the store that counts and remembers."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @override
    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        until = now + seconds
        item = row(lease_key(conversation), owner=owner, until=until, **_expires(until + _LEASE_STAYS))
        free = Either([Free(), Is("owner", [owner]), AtMost("until", now)])
        return await self.table.write(Put(item, free)) is None

    @override
    async def release(self, conversation: str, owner: str) -> None:
        await self.table.write(Delete(lease_key(conversation), Is("owner", [owner])))

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
            for item in await self.table.query(Span(pk=_scope_pk(scope), low=aged(since), high=LAST))
        ]

    @override
    async def drop_usage(self, run: str) -> None:
        stands = await self._stands(run)
        await self.table.delete_all([_usage_key(scope, at, run) for scope, at in stands.items()])
        await self.table.delete_all([_stands_key(run, scope) for scope in stands])

    @override
    async def expire_usage(self, before: int) -> None:
        async for lines in _pages(self.table, USED, before):
            gone = [line.key for line in lines]
            runs = [key.sk.partition("#")[2] for key in gone]
            told = [_stands_key(run, key.pk.partition("#")[2]) for run, key in zip(runs, gone, strict=True)]
            await self.table.delete_all([*gone, *told])

    @override
    async def put_memo(self, key: str, value: str, at: int) -> None:
        await self.table.write(Put(_memo(key, value, at)))

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        when = Free() if was is None else Is("value", [was])
        refused = await self.table.write(Put(_memo(key, value, at), when))
        if refused is None:
            return value
        return _value(refused.standing) or ""

    @override
    async def memo(self, key: str) -> str | None:
        return _value(await self.table.get(memo_key(key)))

    @override
    async def expire_memos(self, before: int) -> None:
        async for lines in _pages(self.table, REMEMBERED, before):
            # One that was written anew since the index knew of it stays.
            old = AtMost("at", before - 1)
            await asyncio.gather(*(self.table.write(Delete(line.key, old)) for line in lines))

    async def _put_usage(self, run: str, rows: Sequence[Usage]) -> None:
        stands = await self._stands(run)
        await asyncio.gather(*(self._put_one(usage, stands.get(usage.scope)) for usage in rows))

    async def _put_one(self, usage: Usage, at: int | None) -> None:
        """Writes where the row of a scope stands, then the row: which keeps its time, and so its place."""
        if at is None:
            told = row(_stands_key(usage.run, usage.scope), at=usage.at, **_expires_of(usage.at, _USAGE_STAYS))
            refused = await self.table.write(Put(told, Free()))
            at = usage.at
            if refused:
                at = _at(refused)
        key = _usage_key(usage.scope, at, usage.run)
        sets = {"run": usage.run, "at": at, "usd": float(usage.usd), **_expires_of(at, _USAGE_STAYS)}
        index = {"gsi_pk": USED, "gsi_sk": aged(at, usage.run, usage.scope)}
        await self.table.write(Update(key, {**sets, **index}, when=Either([Free(), AtMost("usd", usage.usd)])))

    async def _stands(self, run: str) -> Mapping[str, int]:
        """Where the rows of a run stand: the time of each by its scope."""
        items = await self.table.query(prefixed(run_pk(run), SCOPES))
        return {str(item["sk"]).removeprefix(SCOPES): _time(item) for item in items}


async def _pages(table: Table, partition: str, before: int) -> AsyncIterator[Sequence[Indexed]]:
    span = Span(pk=partition, low=FIRST, high=aged(before))
    while lines := await table.index(span, limit=_AT_ONCE):
        yield lines
        span = Span(pk=partition, low=after(lines[-1].sort), high=span.high)


def _scope_pk(scope: str) -> str:
    return f"usage#{scope}"


def _usage_key(scope: str, at: int, run: str) -> Key:
    return Key(_scope_pk(scope), aged(at, run))


def _stands_key(run: str, scope: str) -> Key:
    return Key(run_pk(run), SCOPES + scope)


def _memo(key: str, value: str, at: int) -> Item:
    place = memo_key(key)
    index = {"gsi_pk": REMEMBERED, "gsi_sk": aged(at, place.pk)}
    return row(place, value=value, at=at, **index, **_expires_of(at, _MEMO_STAYS))


def _expires(at: float) -> Mapping[str, int]:
    return {EXPIRES: int(at)}


def _expires_of(at_ms: int, days: int) -> Mapping[str, int]:
    return _expires((at_ms + days * DAY_MS) / 1000)


def _at(refused: Refused) -> int:
    return _time(refused.standing or {})


def _time(item: Item) -> int:
    at = item.get("at")
    if not isinstance(at, int):
        raise Corrupt("A row of what was used is not what was written; restore the table from a backup.")
    return at


def _value(item: Item | None) -> str | None:
    if item is None:
        return None
    return str(item.get("value", ""))


def _usage(scope: str, item: Item) -> Usage:
    run = item.get("run")
    usd = item.get("usd")
    if not isinstance(run, str) or not isinstance(usd, int | float):
        raise Corrupt("A row of what was used is not what was written; restore the table from a backup.")
    return Usage(scope, run, _time(item), float(usd))
