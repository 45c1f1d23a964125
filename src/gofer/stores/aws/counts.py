"""Leases and memos in DynamoDB, each written under a condition.

Each item has an expiry time after which DynamoDB may remove it at no cost, at any time or never. Readers therefore
compare the times inside the items and draw no conclusion from a missing or remaining item.
"""

from collections.abc import Mapping

from typing_extensions import override

from gofer.journal.store import Store
from gofer.stores.aws.items import lease_key, memo_key, row
from gofer.stores.aws.table import EXPIRES, Absent, AtMost, Delete, Either, Item, OneOf, Put, Table

_LEASE_SECONDS = 86_400
"""Seconds after its end for which a lease that was not released is kept."""
_MEMO_SECONDS = 400 * 86_400
"""Seconds for which a memo is kept: longer than any run looks back."""


class DynamoCounts(Store):
    """The part of the store for leases and memos."""

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
    async def leased(self, conversation: str, now: float) -> bool:
        item = await self.table.get(lease_key(conversation))
        until = item.get("until") if item else None
        return isinstance(until, int | float) and until > now

    @override
    async def drop_leases(self) -> None:
        await self.table.delete_all(await self.table.scan("lease"))

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
        """Do nothing: each memo has an expiry, and DynamoDB removes it for nothing."""


def _memo(key: str, value: str, at: int) -> Item:
    return row(memo_key(key), value=value, at=at, **_expires(at / 1000 + _MEMO_SECONDS))


def _expires(at: float) -> Mapping[str, int]:
    return {EXPIRES: int(at)}


def _memo_value(item: Item | None) -> str | None:
    if item is None:
        return None
    return str(item.get("value", ""))
