"""A table of DynamoDB with many runs of thirty days, with heads, keys and claims that are made as they are read.

Only what no list of ended runs has is stored: unfinished and abandoned runs, with journals. All other items follow from
the number of their run, so that a table with ten million runs needs no memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice
from zlib import crc32

from gofer.journal.coordination import DAY_MS, Head, Retention
from gofer.journal.entries import RunStarted
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.journal.log import open_journal
from gofer.stores.aws.items import CLAIMED, age_key, ended_partition, ended_row, head_item, head_of, mark_list, row
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.sharded_index import SHARDS
from gofer.stores.aws.table import Indexed, Item, Key, Put, Span
from gofer.stores.memory.blobs import MemoryBlobs
from support.aws.memory_table import MemoryTable
from support.stand_ins import NOON, SetClock, claimed, make_outside

NOW = int(NOON * 1000)
BEGIN = NOW - 30 * DAY_MS
"""When the first run was accepted that is not kept, unix milliseconds."""
TOOK_MS = 58_000
PRIVATE, RATED, UNSEEN, KEPT, ABANDONED, UNFINISHED = 5, 1_000, 10_000, 10_000, 100_000, 50_000
"""One of so many runs is private, has good feedback, has unseen bad feedback, is kept for longer, was abandoned, is
unfinished."""
FACTS = HeadFacts(llm_calls=4, tool_calls=7, tools={"slack_read_thread": ToolCount(7)}, usd=0.01, owned_ms=TOOK_MS)
_LISTS: Mapping[Retention, str] = {
    retention: ended_partition(retention, private=retention == "deleted")
    for retention in ("due", "kept", "unseen", "deleted")
}
_MARKED = mark_list("rated")
_CLAIM = "frame#00000001"


@dataclass(frozen=True)
class Runs:
    """The ended runs of a table, by number in the order of their age: first the kept ones, then those of 30 days."""

    count: int

    @property
    def kept(self) -> int:
        """The number of kept runs."""
        return self.count // KEPT

    def accepted_at(self, number: int) -> int:
        """Return when a run was accepted, unix milliseconds."""
        kept = self.count // KEPT
        if number < kept:
            return BEGIN - (1 + kept - number) * 60_000
        return BEGIN + (number - kept) * (NOW - BEGIN - 2 * TOOK_MS) // self.count

    def first_after(self, at: int) -> int:
        """Return a number before which each run was last written before a time."""
        if at <= BEGIN:
            return 0
        return max(0, self.kept + (at - TOOK_MS - BEGIN) * self.count // (NOW - BEGIN - 2 * TOOK_MS) - 2)

    def retention(self, number: int) -> Retention:
        """Return the retention of a run."""
        if number < self.count // KEPT:
            return "kept"
        if number % PRIVATE == PRIVATE - 1:
            return "deleted"
        if number % UNSEEN == 2:
            return "unseen"
        return "due"

    def lists(self) -> Mapping[str, Callable[[int], Iterable[int]]]:
        """Return the lists of the index: from a number on, the numbers of their runs in order."""
        end = self.kept + self.count

        def every(step: int, rest: int, first: int) -> Iterable[int]:
            return range(first + (rest - first) % step, end, step)

        def due(first: int) -> Iterable[int]:
            numbers = range(max(first, self.kept), end)
            return (number for number in numbers if number % PRIVATE != PRIVATE - 1 and number % UNSEEN != 2)

        def unseen(first: int) -> Iterable[int]:
            return every(UNSEEN, 2, max(first, self.kept))

        return {
            _LISTS["due"]: due,
            _LISTS["kept"]: lambda first: range(first, self.kept),
            _LISTS["unseen"]: unseen,
            _LISTS["deleted"]: lambda first: every(PRIVATE, PRIVATE - 1, max(first, self.kept)),
            _MARKED: lambda first: merge(every(RATED, 1, first), unseen(first)),
            CLAIMED: due,
        }


class MadeTable(MemoryTable):
    """A table with the made runs, and with whatever is written to it."""

    def __init__(self, runs: Runs, shards: int = SHARDS) -> None:
        """Make the table; only so many shards of each list have made runs."""
        super().__init__()
        self.runs = runs
        self._shards = shards
        self._lists = runs.lists()
        good, bad = encode(HeadFacts(usd=0.01, good=1)), encode(HeadFacts(usd=0.01, bad=1))
        self._facts: Mapping[Retention, str] = {"due": encode(FACTS), "kept": good, "unseen": bad, "deleted": ""}
        self._good = good
        self._head = head_item(Head("", "workflow-1", "", 0, "done", frames=15))

    async def get(self, key: Key) -> Item | None:
        """See Table.get."""
        made = self._made(key)
        if made is None:
            return await super().get(key)
        self._bill("read", 1)
        return made

    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        """See Table.get_all."""
        items = [self._made(key) or self._items.get(key.pk, {}).get(key.sk) for key in keys]
        found = [item for item in items if item is not None]
        self._bill("read", len(found), -(-len(keys) // 100))
        return found

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        """See Table.index."""
        assert not newest, "the numbers of made runs are read in their order"
        self._catch_up()
        stored = [Indexed(key, sort) for key, sort in self._shown[span.pk].items() if span.low <= sort <= span.high]
        found = list(islice(self._lines(span), limit))
        if stored:
            found = sorted([*stored, *found], key=lambda line: line.sort)[:limit]
        self._bill("read", max(1, -(-200 * len(found) // 4_096)) / 2)
        return found

    def items(self) -> Iterator[Item]:
        """Yield all made items, to store them elsewhere."""
        for number in range(self.runs.kept + self.runs.count):
            pk = f"run#{number:024x}"
            yield from (item for sk in ("head", "key", _CLAIM) if (item := self._made(Key(pk, sk))))
            if number % RATED == 1 or number % UNSEEN == 2:
                yield ended_row(head_of(self._head_of(number, pk)))

    def _lines(self, span: Span) -> Iterator[Indexed]:
        name, _, shard = span.pk.rpartition("#")
        if name not in self._lists or int(shard) >= self._shards:
            return
        since = 0
        if span.low[:15].isdigit():
            since = int(span.low[:15])
        wanted, later = int(shard), 0 if name == CLAIMED else TOOK_MS
        for number in self._lists[name](self.runs.first_after(since)):
            run = b"%024x" % number
            if crc32(run) % SHARDS != wanted:
                continue
            sort = f"{self.runs.accepted_at(number) + later:015d}#{run.decode()}"
            if sort > span.high:
                return
            if span.low <= sort:
                yield Indexed(self._key_in(name, number), sort)

    def _key_in(self, name: str, number: int) -> Key:
        pk = f"run#{number:024x}"
        if name == CLAIMED:
            return Key(pk, _CLAIM)
        if name == _MARKED:
            item = ended_row(head_of(self._head_of(number, pk)))
            return Key(str(item["pk"]), str(item["sk"]))
        return Key(pk, "head")

    def _made(self, key: Key) -> Item | None:
        """Return a made head, key or claim; None for every other item."""
        if not key.pk.startswith("run#0"):
            return None
        number = int(key.pk[4:], 16)
        if key.sk == "head":
            return self._head_of(number, key.pk)
        if key.sk == "key" and self.runs.retention(number) != "deleted":
            return {"pk": key.pk, "sk": "key", "key": bytes(32)}
        if key.sk == _CLAIM:
            return self._claim_of(number, key.pk)
        return None

    def _head_of(self, number: int, pk: str) -> Item:
        run, at, retention = pk[4:], self.runs.accepted_at(number), self.runs.retention(number)
        return {
            **self._head,
            "pk": pk,
            "run": run,
            "conversation": f"place:{run}",
            "accepted_at": at,
            "updated_at": at + TOOK_MS,
            "private": retention == "deleted",
            "facts": self._good if number % RATED == 1 else self._facts[retention],
            "retention": retention,
            "gsi_pk": f"{_LISTS[retention]}#{crc32(run.encode()) % SHARDS}",
            "gsi_sk": f"{at + TOOK_MS:015d}#{run}",
        }

    def _claim_of(self, number: int, pk: str) -> Item:
        claim: Item = {"pk": pk, "sk": _CLAIM, "frame": bytes(100)}
        if self.runs.retention(number) != "due":
            return claim
        at, run = self.runs.accepted_at(number), pk[4:]
        shard = crc32(run.encode()) % SHARDS
        return {**claim, "gsi_pk": f"{CLAIMED}#{shard}", "gsi_sk": age_key(at, run)}


async def add_unfinished(store: DynamoStore, runs: int) -> None:
    """Store the unfinished and the abandoned ones of so many runs, as receivers and workers do."""
    # The lists of marks are complete: every run of an earlier version was deleted.
    await store.table.write(Put(row(Key("marked", "until"), age=age_key(BEGIN - DAY_MS))))
    clock = SetClock()
    clock.advance(-3_600)
    outside, at = make_outside(clock), NOW - 3_600_000
    unfinished = (f"f{number:023x}" for number in range(max(1, runs // UNFINISHED)))
    abandoned = (f"e{number:023x}" for number in range(max(1, runs // ABANDONED)))
    for run in chain(unfinished, abandoned):
        pen = await claimed(store, run, outside)
        head = Head(run, "workflow-1", f"place:{run}", at, private=False, updated_at=at)
        await store.create_head(head)
        journal, _ = await open_journal(run, store, MemoryBlobs(), pen)
        journal.add(RunStarted("bundle", private=False))
        await journal.commit()
        if run.startswith("e"):
            await store.put_head(head.now("needs_attention", at, reason="poison: five workers crashed"))
