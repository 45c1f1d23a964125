"""Journals and inboxes in DynamoDB.

A frame is one item, written with one conditional put. The key of a run is an item of another table. A claim writes
frame 1 and the key in one transaction, so neither exists without the other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from typing_extensions import override

from gofer.journal.coordination import InboxItem
from gofer.journal.store import Store
from gofer.stores.aws.items import (
    CLAIMED,
    FRAMES,
    ITEMS,
    age_key,
    ended_key,
    frame_key,
    frame_span,
    head_key,
    head_of,
    key_key,
    open_key,
    row,
    run_pk,
)
from gofer.stores.aws.sharded_index import pages, run_of, shard_of
from gofer.stores.aws.table import (
    EXPIRES,
    FIRST,
    ITEM_LIMIT,
    LAST,
    Absent,
    Delete,
    Exists,
    Item,
    Key,
    Put,
    Refused,
    Span,
    Table,
    Update,
    key_of,
    prefixed,
)
from gofer.values.errors import BadRequest, Corrupt

_MOST_LENGTHS = 10_000
"""The most runs whose number of frames is cached."""
_KEPT = ("kept", "unseen")
"""The retentions of runs that may be older than those that are due."""


class DynamoFrames(Store):
    """The part of the store for frames, keys and inboxes."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._lengths: OrderedDict[str, int] = OrderedDict()

    @override
    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        if len(frame) > ITEM_LIMIT:
            # Frame 1 holds the event, whose sender has to learn that it is too large.
            raise BadRequest(
                413, f"The event is larger than the {ITEM_LIMIT:,} bytes that can be stored.", code="event_too_large"
            )
        index: dict[str, str] = {}
        if at:
            index = {"gsi_pk": shard_of(CLAIMED, run), "gsi_sk": age_key(at, run)}
        first = Put(row(frame_key(run, 1), frame=frame, claimed_at=at, **index), Absent())
        if refused := await self._claim(first, run, key):
            return _frame(run, 1, refused.stored)
        self._note_length(run, 1)
        return None

    async def _unlist(self, key: Key) -> None:
        await self.table.write(Update(key, removes=("gsi_pk", "gsi_sk"), when=Exists()))

    async def _claim(self, first: Put, run: str, key: bytes) -> Refused | None:
        if not key:
            return await self.table.write(first)
        # No run uses a key without a frame, so the transaction may replace such a key.
        return await self.table.transact([first, Put(row(key_key(run), key=key))])

    @override
    async def key(self, run: str) -> bytes | None:
        found = await self.table.get(key_key(run))
        if found is None:
            return None
        key = found.get("key")
        if key is not None and not isinstance(key, bytes):
            raise Corrupt(f"The key of run {run} is damaged; restore the table from a backup.")
        return key

    @override
    async def keyless(self, runs: Sequence[str]) -> Sequence[str]:
        keys = {item["pk"] for item in await self.table.get_all([key_key(run) for run in runs])}
        return [run for run in runs if run_pk(run) not in keys]

    @override
    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        if len(frame) > ITEM_LIMIT:
            raise ValueError(f"frame {n} has {len(frame):,} bytes")
        # A condition of DynamoDB cannot look at another item. An owner that appends has read the frame before.
        if n < 2 or (self._lengths.get(run, 0) < n - 1 and not await self.table.get(frame_key(run, n - 1))):
            raise ValueError(f"frame {n} would leave a gap")
        if refused := await self.table.write(Put(row(frame_key(run, n), frame=frame), Absent())):
            return _frame(run, n, refused.stored)
        self._note_length(run, n)
        return None

    @override
    async def frames(self, run: str) -> Sequence[bytes]:
        items = await self.table.query(frame_span(run))
        if items:
            self._note_length(run, len(items))
        return [_frame_in_order(run, n, item) for n, item in enumerate(items, start=1)]

    @override
    async def put_item(self, run: str, item: InboxItem) -> None:
        await self.table.write(Put(row(Key(run_pk(run), ITEMS + item.id), entry=item.entry), Absent()))

    @override
    async def items(self, run: str) -> Sequence[InboxItem]:
        return [_inbox_item(run, item) for item in await self.table.query(prefixed(run_pk(run), ITEMS))]

    @override
    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        await self.table.delete_all([Key(run_pk(run), ITEMS + item_id) for item_id in dict.fromkeys(ids)])

    @override
    async def unlisted(self, before: int, limit: int) -> Sequence[str]:
        found: list[str] = []
        async for lines in pages(self.table, [CLAIMED], high=age_key(before)):
            heads = {item["pk"]: item for item in await self.table.get_all([head_key(run_of(line)) for line in lines])}
            keys = [line.key for line in lines if line.key.pk not in heads]
            # The index is stale for a moment: it may still show a claim whose frame was deleted.
            claimed = {item["pk"] for item in await self.table.get_all(keys) if "gsi_pk" in item}
            found += [line.sort for line in lines if line.key.pk in claimed]
            # The claim of a kept run leaves the list, so that no later purge reads it.
            kept = [line.key for line in lines if heads.get(line.key.pk, {}).get("retention") in _KEPT]
            await asyncio.gather(*map(self._unlist, kept))
        return [sort.partition("#")[2] for sort in sorted(found)[:limit]]

    @override
    async def drop_orphans(self, before: int) -> None:
        """Do nothing: a claim and its key are written in one transaction."""

    @override
    async def destroy_key(self, run: str) -> None:
        await self.table.write(Delete(key_key(run)))

    @override
    async def empty(self, run: str) -> None:
        frames = [key_of(item) for item in await self.table.query(frame_span(run))]
        # The claim leaves the index in the same write.
        emptied = [
            self.table.write(Update(key, {"frame": b""}, removes=("gsi_pk", "gsi_sk"), when=Exists())) for key in frames
        ]
        waiting = [key_of(item) for item in await self.table.query(prefixed(run_pk(run), ITEMS))]
        await asyncio.gather(*emptied, self.table.delete_all(waiting))

    @override
    async def forget(self, run: str) -> None:
        items = await self.table.query(Span(pk=run_pk(run), low=FIRST, high=LAST))
        rows = [key for item in items if item["sk"] == "head" for key in _conversation_rows(item)]
        # An item with an expiry is removed by DynamoDB for nothing.
        rest = [key_of(item) for item in items if EXPIRES not in item and key_of(item) != head_key(run)]
        # To look for the key costs a fifth of a delete, and nearly every key was destroyed before.
        if await self.table.get(key_key(run)):
            await self.table.write(Delete(key_key(run)))
        await self.table.delete_all([*rest, *rows])
        await self.table.delete_all([head_key(run)])
        self._lengths.pop(run, None)

    @override
    async def scrub(self) -> None:
        """Do nothing: DynamoDB has no local files, and its backups cannot be read without the key."""

    def _note_length(self, run: str, n: int) -> None:
        """Cache the number of frames. Frames are never removed while an owner appends, so the cache stays true."""
        self._lengths[run] = max(n, self._lengths.pop(run, 0))
        if len(self._lengths) > _MOST_LENGTHS:
            self._lengths.popitem(last=False)


def _frame(run: str, n: int, item: Item | None) -> bytes:
    stored = item.get("frame") if item else None
    if not isinstance(stored, bytes):
        raise Corrupt(f"Run {run} is damaged at frame {n}: no bytes are stored there; restore them.")
    return stored


def _frame_in_order(run: str, n: int, item: Item) -> bytes:
    if item["sk"] != f"{FRAMES}{n:08d}":
        raise Corrupt(f"Run {run} is damaged at frame {n}: it is missing and later ones are there; restore it.")
    return _frame(run, n, item)


def _inbox_item(run: str, item: Item) -> InboxItem:
    entry = item.get("entry")
    if not isinstance(entry, bytes):
        raise Corrupt(f"Run {run} is damaged in its inbox: no bytes are stored there; restore them.")
    return InboxItem(str(item["sk"]).removeprefix(ITEMS), entry)


def _conversation_rows(item: Item) -> Sequence[Key]:
    try:
        head = head_of(item)
    except Corrupt:
        # The keys of the rows follow from the head. No worker acts on rows that are left without a head.
        return ()
    # The transaction that writes an ended head removes the open row.
    if head.ended:
        return [ended_key(head)]
    return [open_key(head), ended_key(head)]
