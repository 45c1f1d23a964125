"""The store in the memory of one process, for notebooks, tests and simulations."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from typing_extensions import override

from gofer.journal.coordination import (
    DAY_MS,
    RUNNABLE,
    UNFINISHED,
    Head,
    InboxItem,
    Mark,
    Retention,
    Spent,
    Usage,
    is_in,
    place_of,
    spent_until,
)
from gofer.journal.store import PAGE, Store


class MemoryStore(Store):
    """A store in dictionaries, for one asyncio loop."""

    def __init__(self) -> None:
        self._frames: dict[str, list[bytes]] = {}
        self._keys: dict[str, bytes] = {}
        self._claimed: dict[str, int] = {}
        self._heads: dict[str, Head] = {}
        self._open: defaultdict[str, dict[str, Head]] = defaultdict(dict)
        """The heads of unfinished runs by place and run."""
        self._leases: dict[str, tuple[str, float]] = {}
        self._inbox: defaultdict[str, dict[str, InboxItem]] = defaultdict(dict)
        self._usage: dict[tuple[str, str], Usage] = {}
        self._memos: dict[str, tuple[str, int]] = {}

    @override
    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        if run in self._frames:
            return self._frames[run][0]
        self._frames[run] = [frame]
        self._keys[run] = key
        self._claimed[run] = at
        return None

    @override
    async def key(self, run: str) -> bytes | None:
        return self._keys.get(run)

    @override
    async def keyless(self, runs: Sequence[str]) -> Sequence[str]:
        return [run for run in runs if run not in self._keys]

    @override
    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        frames = self._frames.get(run, [])
        if n <= len(frames):
            return frames[n - 1]
        if not frames or n != len(frames) + 1:
            raise ValueError(f"frame {n} would leave a gap after {len(frames)}")
        frames.append(frame)
        return None

    @override
    async def frames(self, run: str) -> Sequence[bytes]:
        return tuple(self._frames.get(run, ()))

    @override
    async def create_head(self, head: Head) -> None:
        if head.run not in self._heads:
            self._keep(head)

    @override
    async def put_head(self, head: Head) -> None:
        stored = self._heads.get(head.run, head)
        self._keep(head.retained(stored.retention))

    @override
    async def head(self, run: str) -> Head | None:
        return self._heads.get(run)

    @override
    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        listed = (head for head in self._heads.values() if private or not head.private)
        return sorted(listed, key=lambda head: (-head.accepted_at, head.run))[:limit]

    @override
    async def listed(self, since: int, *, private: bool = False) -> AsyncIterator[Sequence[Head]]:
        newest = await self.heads(len(self._heads), private=private)
        found = [head for head in newest if head.accepted_at >= since]
        for first in range(0, len(found), PAGE):
            yield found[first : first + PAGE]

    @override
    async def marked(self, mark: Mark) -> AsyncIterator[Sequence[Head]]:
        async for page in self.listed(0, private=True):
            yield [head for head in page if head.mark == mark and head.has_contents]

    @override
    async def oldest_runnable(self, conversation: str) -> Head | None:
        runnable = [head for head in self._open_heads(conversation) if head.status in RUNNABLE]
        return min(runnable, key=lambda head: (head.accepted_at, head.run), default=None)

    @override
    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        ended = (
            head
            for head in self._heads.values()
            if (head.conversation, head.workflow) == (conversation, workflow)
            and head.accepted_at < before
            and head.status not in UNFINISHED
        )
        return min(ended, key=lambda head: (-head.accepted_at, head.run), default=None)

    @override
    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        opened = (head for heads in self._open.values() for head in heads.values())
        found = (head for head in opened if head.touched_at < before)
        later = (head for head in found if after is None or _by_age(head) > _by_age(after))
        return sorted(later, key=_by_age)[:limit]

    @override
    async def open_runs(self, conversations: str) -> AsyncIterator[Sequence[Head]]:
        yield sorted(self._open_heads(conversations), key=lambda head: (head.accepted_at, head.run))

    @override
    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        found = (
            head
            for head in self._heads.values()
            if head.status not in UNFINISHED and head.retention == retention and head.private >= private
        )
        old = (head for head in found if head.touched_at < before)
        later = (head for head in old if after is None or _by_age(head) > _by_age(after))
        return sorted(later, key=_by_age)[:limit]

    @override
    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        holder, until = self._leases.get(conversation, (owner, now))
        if holder != owner and until > now:
            return False
        self._leases[conversation] = (owner, now + seconds)
        return True

    @override
    async def release(self, conversation: str, owner: str) -> None:
        if self._leases.get(conversation, ("", 0.0))[0] == owner:
            del self._leases[conversation]

    @override
    async def leased(self, conversation: str, now: float) -> bool:
        return self._leases.get(conversation, ("", now))[1] > now

    @override
    async def drop_leases(self) -> None:
        self._leases.clear()

    @override
    async def put_item(self, run: str, item: InboxItem) -> None:
        self._inbox[run].setdefault(item.id, item)

    @override
    async def items(self, run: str) -> Sequence[InboxItem]:
        return [item for _, item in sorted(self._inbox[run].items())]

    @override
    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        for item_id in ids:
            self._inbox[run].pop(item_id, None)

    @override
    async def put_usage(self, rows: Sequence[Usage]) -> None:
        for row in rows:
            stored = self._usage.get((row.scope, row.run), row)
            self._usage[row.scope, row.run] = replace(stored, usd=max(stored.usd, row.usd))

    @override
    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        found = (row for row in self._usage.values() if row.scope == scope and row.at >= since)
        return sorted(found, key=lambda row: (row.at, row.run))

    @override
    async def spent(self, scope: str, now: int) -> Sequence[Spent]:
        usd: defaultdict[int, float] = defaultdict(float)
        for row in self._usage.values():
            until = spent_until(row.at)
            if row.scope == scope and until > now - DAY_MS:
                usd[until] += row.usd
        return [Spent(until, amount) for until, amount in sorted(usd.items())]

    @override
    async def drop_usage(self, run: str) -> None:
        self._usage = {key: row for key, row in self._usage.items() if row.run != run}

    @override
    async def expire_usage(self, before: int) -> None:
        self._usage = {key: row for key, row in self._usage.items() if row.at >= before}

    @override
    async def put_memo(self, key: str, value: str, at: int) -> None:
        self._memos[key] = (value, at)

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        stored, _ = self._memos.get(key, (None, 0))
        if stored != was:
            return stored or ""
        self._memos[key] = (value, at)
        return value

    @override
    async def memo(self, key: str) -> str | None:
        return self._memos.get(key, (None, 0))[0]

    @override
    async def expire_memos(self, before: int) -> None:
        self._memos = {key: memo for key, memo in self._memos.items() if memo[1] >= before}

    @override
    async def unlisted(self, before: int, limit: int) -> Sequence[str]:
        found = sorted((at, run) for run, at in self._claimed.items() if 0 < at < before and run not in self._heads)
        return [run for _, run in found if run in self._keys][:limit]

    @override
    async def drop_orphans(self, before: int) -> None:
        """Do nothing: a claim and its key are written in one step."""

    @override
    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        head = self._heads.get(run)
        if head is None:
            return None
        if head.retention != was:
            return head.retention
        self._keep(head.retained(becomes))
        return becomes

    @override
    async def hide(self, run: str) -> None:
        if head := self._heads.get(run):
            self._keep(head.hidden())

    @override
    async def destroy_key(self, run: str) -> None:
        self._keys.pop(run, None)

    @override
    async def empty(self, run: str) -> None:
        frames = self._frames.get(run, [])
        frames[:] = [b""] * len(frames)
        self._inbox.pop(run, None)

    @override
    async def forget(self, run: str) -> None:
        self._close(run)
        for rows in (self._keys, self._claimed, self._frames, self._inbox, self._heads):
            rows.pop(run, None)

    @override
    async def scrub(self) -> None: ...

    def _keep(self, head: Head) -> None:
        """Replace the head of a run, also among the unfinished runs of its place."""
        self._close(head.run)
        self._heads[head.run] = head
        if not head.ended:
            self._open[place_of(head.conversation)][head.run] = head

    def _close(self, run: str) -> None:
        """Remove a run from the unfinished runs of its place."""
        if run not in self._heads:
            return
        place = place_of(self._heads[run].conversation)
        opened = self._open[place]
        opened.pop(run, None)
        if not opened:
            del self._open[place]

    def _open_heads(self, conversations: str) -> Sequence[Head]:
        """Return the heads of the unfinished runs of a conversation, or of the place of a pattern."""
        opened = self._open.get(place_of(conversations), {})
        return [head for head in opened.values() if is_in(head.conversation, conversations)]


def _by_age(head: Head) -> tuple[int, str]:
    return head.touched_at, head.run
