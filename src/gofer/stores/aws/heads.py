"""Heads in DynamoDB, by run, by conversation, by place and by age.

A head is one item. Its conversation has a row for it: an *open* row until the run ends, then an *ended* row. One
transaction writes the head and changes the row when the run ends; other writes leave the row alone. The index lists
heads by age, open rows by place and ended rows by mark, and each head that it lists is read again before it counts.

Ended rows of earlier versions are in no list of a mark. The process that marks the first run of a table therefore
writes down how old the newest ended run is, and readers of marks also read all heads up to that age.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest

from typing_extensions import override

from gofer.journal.coordination import ANY_OF_PLACE, HELD, HOUR_MS, RUNNABLE, Head, Mark, Retention, is_in, place_of
from gofer.journal.store import Store
from gofer.stores.aws.items import (
    ENDED,
    OPENED,
    RETENTIONS,
    age_key,
    conversation_pk,
    ended_partition,
    ended_row,
    head_item,
    head_key,
    head_of,
    mark_list,
    open_key,
    open_row,
    partition_of,
    place_list,
    row,
    sort_key_of,
)
from gofer.stores.aws.sharded_index import OPEN, UNPLACED, after, pages, read_lines, run_of
from gofer.stores.aws.table import (
    FIRST,
    LAST,
    Absent,
    Both,
    Delete,
    Either,
    Indexed,
    Item,
    Key,
    OneOf,
    Put,
    Span,
    Table,
    Update,
    prefixed,
)
from gofer.values.errors import Corrupt, TemporaryError

_AT_ONCE = 100
"""The most heads that are read in one request."""
_ROWS_AT_ONCE = 25
"""The most rows of a conversation, and the fewest lines of a list of new runs, in one page."""
_FIRST_ROWS = 2
"""The rows of the first page in the search for the next run of a conversation."""
_ATTEMPTS = 5
"""How often a write is tried while another process writes the same head."""
_UNMARKED = Key("marked", "until")
"""The key of the item with the age up to which earlier versions ended runs without lines in lists of marks."""
_UPDATE_MS = HOUR_MS
"""The longest time for which an earlier version ends runs beside this one, while a stage is updated."""

_log = logging.getLogger(__name__)


class DynamoHeads(Store):
    """The part of the store for heads."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._knows_unmarked = False

    @override
    async def create_head(self, head: Head) -> None:
        await self.table.transact([Put(head_item(head), Absent()), Put(_row(head))])

    @override
    async def put_head(self, head: Head) -> None:
        if head.ended:
            await self._put_ended(head)
        elif await self.table.write(_change(head, OneOf("gsi_pk", [partition_of(head)]))):
            # The head had ended or was missing, so its conversation has no open row; or an earlier version wrote the
            # row, which has no line in the list of its place.
            await self.table.transact([_change(head, None), Put(open_row(head))])

    @override
    async def head(self, run: str) -> Head | None:
        found = await self.table.get(head_key(run))
        if found is None:
            return None
        return head_of(found)

    @override
    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        partitions = [OPEN, *_ended_partitions(RETENTIONS, private=False)]
        if private:
            partitions += _ended_partitions(RETENTIONS, private=True)
        found = await asyncio.gather(*(self._newest(partition, limit, private) for partition in partitions))
        # The index may list a head that just ended in two partitions.
        known = {head.run: head for heads in found for head in heads}
        return nsmallest(limit, known.values(), key=_by_acceptance)

    @override
    async def listed(self, since: int, *, private: bool = False) -> AsyncIterator[Sequence[Head]]:
        names = [OPEN, *_ended_partitions(RETENTIONS, private=False)]
        if private:
            names += _ended_partitions(RETENTIONS, private=True)
        # No head is accepted after its age in the index.
        async for page in self._all_of(names, low=age_key(since)):
            yield [head for head in page if head.accepted_at >= since and head.private <= private]

    @override
    async def marked(self, mark: Mark) -> AsyncIterator[Sequence[Head]]:
        unmarked = await self.table.get(_UNMARKED)
        until = str(unmarked["age"]) if unmarked else LAST
        known = set[str]()
        for names, high in (([mark_list(mark)], LAST), (_held_partitions(), until)):
            async for page in self._all_of(names, high=high):
                found = [head for head in page if head.mark == mark and head.has_contents and head.run not in known]
                known.update(head.run for head in found)
                yield found

    @override
    async def oldest_runnable(self, conversation: str) -> Head | None:
        span = prefixed(conversation_pk(conversation), OPENED)
        # Nearly always the first run is runnable, however many wait behind it.
        limit = _FIRST_ROWS
        while rows := await self.table.query(span, limit=limit):
            heads = await self._heads_of(str(item["run"]) for item in rows)
            if runnable := [head for head in heads if head.status in RUNNABLE]:
                return min(runnable, key=lambda head: (head.accepted_at, head.run))
            if len(rows) < limit:
                break
            span = replace(span, low=after(str(rows[-1]["sk"])))
            limit = _ROWS_AT_ONCE
        return None

    @override
    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        prefix = f"{ENDED}{workflow}#"
        span = Span(pk=conversation_pk(conversation), low=prefix, high=f"{prefix}{before:015d}")
        while rows := await self.table.query(span, limit=_ROWS_AT_ONCE, newest=True):
            heads = await self._heads_of(str(item["run"]) for item in rows)
            if ended := [head for head in heads if head.ended]:
                return min(ended, key=_by_acceptance)
            if len(rows) < _ROWS_AT_ONCE:
                break
            span = replace(span, high=str(rows[-1]["sk"]))
        return None

    @override
    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        # A head that was written after its line of the index comes first in its page.
        span = Span(pk=OPEN, low=_after_head(after) if after else FIRST, high=age_key(before))
        stale: list[Head] = []
        found: list[Head] = []
        while lines := await read_lines(self.table, span, limit=limit):
            for line, head in await self._current_heads(lines):
                if head.ended or head.touched_at >= before:
                    continue
                if sort_key_of(head) == line.sort:
                    found.append(head)
                else:
                    stale.append(head)
            # The next page begins after the last head, so the index must list that head at its current age.
            if len(lines) < limit or (found and len(found) + len(stale) >= limit):
                break
            span = replace(span, low=_after_last(lines))
        if not found:
            return stale[:limit]
        moved = stale[: limit - 1]
        return [*moved, *found[: limit - len(moved)]]

    @override
    async def open_runs(self, conversations: str) -> AsyncIterator[Sequence[Head]]:
        if conversations.endswith(f":{ANY_OF_PLACE}"):
            async for page in self._open_runs_of_place(conversations):
                yield page
            return
        span = prefixed(conversation_pk(conversations), OPENED)
        while rows := await self.table.query(span, limit=_AT_ONCE):
            yield [head for head in await self._heads_of(str(item["run"]) for item in rows) if not head.ended]
            if len(rows) < _AT_ONCE:
                return
            span = replace(span, low=after(str(rows[-1]["sk"])))

    @override
    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        partitions = _ended_partitions([retention], private=True)
        if not private:
            partitions += _ended_partitions([retention], private=False)
        low = _after_head(after) if after else FIRST
        spans = [Span(pk=name, low=low, high=age_key(before)) for name in partitions]
        found = await asyncio.gather(*(self._ended(span, retention, before, limit, private) for span in spans))
        known = {head.run: head for heads in found for head in heads}
        return nsmallest(limit, known.values(), key=sort_key_of)

    @override
    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        for _ in range(_ATTEMPTS):
            head = await self.head(run)
            if head is None:
                return None
            if head.retention != was:
                return head.retention
            # The partition of a head depends on these three attributes.
            same = [OneOf("retention", [was]), OneOf("status", [head.status]), OneOf("private", [head.private])]
            changed = head.retained(becomes)
            sets = {"retention": becomes, "facts": changed.facts, **_list_of_ended(changed)}
            if await self.table.write(Update(head_key(run), sets, when=Both(same))) is None:
                return becomes
        raise TemporaryError("Other processes keep writing the head of a run; try again.")

    @override
    async def hide(self, run: str) -> None:
        for _ in range(_ATTEMPTS):
            head = await self.head(run)
            if head is None or head.private:
                return
            same = [OneOf("retention", [head.retention]), OneOf("status", [head.status]), OneOf("private", [False])]
            changed = head.hidden()
            sets = {"private": True, "facts": changed.facts, **_list_of_ended(changed)}
            if await self.table.write(Update(head_key(run), sets, when=Both(same))) is None:
                return
        raise TemporaryError("Other processes keep writing the head of a run; try again.")

    async def _put_ended(self, head: Head) -> None:
        if head.mark:
            await self._note_unmarked()
        retention = head.retention
        for _ in range(_ATTEMPTS):
            known = head.retained(retention)
            when = Either([Absent(), OneOf("retention", [retention])])
            rows = [Delete(open_key(head)), Put(ended_row(head))]
            refused = await self.table.transact([_change(known, when), *rows])
            if refused is None:
                return
            # Another process changed the retention, which decides the partition of the head.
            retention = head_of(refused.stored).retention if refused.stored else head.retention
        raise TemporaryError("Other processes keep changing the retention of a run; try again.")

    async def _note_unmarked(self) -> None:
        """Write down, once for the table, up to which age runs may have ended without a line in a list of marks."""
        if not self._knows_unmarked and not await self.table.get(_UNMARKED):
            spans = [Span(pk=name, low=FIRST, high=LAST) for name in _held_partitions()]
            newest = await asyncio.gather(*(read_lines(self.table, span, limit=1, newest=True) for span in spans))
            at = max((_age(line) for lines in newest for line in lines), default=0)
            await self.table.write(Put(row(_UNMARKED, age=age_key(at + _UPDATE_MS)), Absent()))
        self._knows_unmarked = True

    async def _all_of(
        self, names: Sequence[str], *, low: str = FIRST, high: str = LAST
    ) -> AsyncIterator[Sequence[Head]]:
        """Yield pages of all heads of lists, each head once, without an order."""
        async for lines in pages(self.table, names, low=low, high=high):
            yield await self._heads_of(map(run_of, lines))

    async def _open_runs_of_place(self, pattern: str) -> AsyncIterator[Sequence[Head]]:
        known = set[str]()
        # A write moves a run of an earlier version from the first list into the second.
        for name in (UNPLACED, place_list(place_of(pattern))):
            span = Span(pk=name, low=FIRST, high=LAST)
            while lines := await read_lines(self.table, span, limit=_AT_ONCE):
                heads = await self._heads_of(run_of(line) for line in lines)
                found = [head for head in heads if not head.ended and is_in(head.conversation, pattern)]
                yield [head for head in found if head.run not in known]
                known.update(head.run for head in found)
                if len(lines) < _AT_ONCE:
                    break
                span = replace(span, low=_after_last(lines))

    async def _newest(self, partition: str, limit: int, private: bool) -> Sequence[Head]:
        """Return the newest heads of a partition of the index.

        No head is accepted after its age in the index, so the search stops where no newer head can follow.
        """
        best: list[Head] = []
        span = Span(pk=partition, low=FIRST, high=LAST)
        page = min(_AT_ONCE, max(limit, _ROWS_AT_ONCE))
        while lines := await read_lines(self.table, span, limit=page, newest=True):
            shown = (head for _, head in await self._current_heads(lines) if private or not head.private)
            known = {head.run: head for head in (*best, *shown)}
            best = nsmallest(limit, known.values(), key=_by_acceptance)
            if len(lines) < page or (len(best) == limit and _age(lines[-1]) < best[-1].accepted_at):
                break
            # A span includes its end, so the last line of this page is read again with the next one.
            span = replace(span, high=lines[-1].sort)
        return best

    async def _ended(self, span: Span, retention: Retention, before: int, limit: int, private: bool) -> Sequence[Head]:
        found: list[Head] = []
        while lines := await read_lines(self.table, span, limit=min(limit, _AT_ONCE)):
            shown = [head for _, head in await self._current_heads(lines) if head.ended and head.retention == retention]
            found += [head for head in shown if head.touched_at < before and head.private >= private]
            if len(lines) < min(limit, _AT_ONCE) or len(found) >= limit:
                break
            span = replace(span, low=_after_last(lines))
        return found[:limit]

    async def _current_heads(self, lines: Sequence[Indexed]) -> Sequence[tuple[Indexed, Head]]:
        """Read the heads of lines of the index again, in the same order, without missing and damaged ones.

        For a moment the index may list a head at two ages. Then only its line of the later age counts.
        """
        latest = {line.key: line for line in sorted(lines, key=lambda line: line.sort)}
        heads = {head_key(head.run).pk: head for head in _readable(await self.table.get_all(list(latest)))}
        return [(line, heads[line.key.pk]) for line in lines if latest[line.key] is line and line.key.pk in heads]

    async def _heads_of(self, runs: Iterable[str]) -> Sequence[Head]:
        return list(_readable(await self.table.get_all([head_key(run) for run in runs])))


def _change(head: Head, when: OneOf | Either | None) -> Update:
    """Return the update of a whole head except its `retention`, which is only set if it is missing."""
    item = dict(head_item(head))
    key = Key(str(item.pop("pk")), str(item.pop("sk")))
    retention = item.pop("retention")
    return Update(key, item, {"retention": retention}, when=when)


def _row(head: Head) -> Item:
    """Return the row of the conversation for a run."""
    if head.ended:
        return ended_row(head)
    return open_row(head)


def _list_of_ended(head: Head) -> Item:
    """Return the list of an ended head as an attribute.

    The list of a head that has not ended tells whether its run is in the list of its place, so it stays.
    """
    if head.ended:
        return {"gsi_pk": partition_of(head)}
    return {}


def _ended_partitions(retentions: Sequence[Retention], *, private: bool) -> list[str]:
    return [ended_partition(retention, private=private) for retention in retentions]


def _held_partitions() -> Sequence[str]:
    return [*_ended_partitions(HELD, private=False), *_ended_partitions(HELD, private=True)]


def _readable(items: Iterable[Item]) -> Iterable[Head]:
    for item in items:
        try:
            yield head_of(item)
        except Corrupt as error:
            _log.error("%s", error)


def _by_acceptance(head: Head) -> tuple[int, str]:
    return -head.accepted_at, head.run


def _age(line: Indexed) -> int:
    return int(line.sort.partition("#")[0])


def _after_head(head: Head) -> str:
    return after(sort_key_of(head))


def _after_last(lines: Sequence[Indexed]) -> str:
    return after(lines[-1].sort)
