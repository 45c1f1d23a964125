"""DynamoDB in memory: conditional writes, transactions, pages, a lagging index, and the billed units of requests."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from gofer.stores.aws.table import (
    Absent,
    AtMost,
    Both,
    Condition,
    Delete,
    Either,
    Exists,
    Indexed,
    Item,
    Key,
    Lacks,
    OneOf,
    Put,
    Refused,
    Span,
    Update,
    Value,
    Write,
    key_of,
)
from gofer.values.errors import TemporaryError

ITEM_BYTES = 400_000
Line = tuple[str, str]
"""`gsi_pk` and `gsi_sk` of an item that the index shows."""


class MemoryTable:
    """A Table in dictionaries, for one asyncio loop; the index shows a write `lag()` seconds later."""

    def __init__(self, now: Callable[[], float] = lambda: 0.0, lag: Callable[[], float] = lambda: 0.0) -> None:
        self._now = now
        self._lag = lag
        self._items: defaultdict[str, dict[str, Item]] = defaultdict(dict)
        self._shown: defaultdict[str, dict[Key, str]] = defaultdict(dict)
        self._partitions: dict[Key, str] = {}
        self._coming: dict[Key, list[tuple[float, Line | None]]] = {}
        self.units: Counter[str] = Counter()
        """`requests`, and `read` and `write` units as they are billed on demand; halves are of the index."""

    async def get(self, key: Key) -> Item | None:
        """See Table.get."""
        found = self._items[key.pk].get(key.sk)
        self._bill("read", _read_units(_size(found)))
        return found

    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        """See Table.get_all."""
        found = [item for key in dict.fromkeys(keys) if (item := self._items[key.pk].get(key.sk))]
        self._bill("read", sum(_read_units(_size(item)) for item in found), -(-len(keys) // 100))
        return found

    async def query(self, span: Span, *, limit: int = 0, newest: bool = False) -> Sequence[Item]:
        """See Table.query."""
        stored = self._items[span.pk]
        found = [stored[sk] for sk in sorted(stored, reverse=newest) if span.low <= sk <= span.high]
        found = found[:limit] if limit else found
        size = sum(map(_size, found))
        self._bill("read", _read_units(size), 1 + size // 1_000_000)
        return found

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        """See Table.index."""
        self._catch_up()
        lines = [Indexed(key, sort) for key, sort in self._shown[span.pk].items() if span.low <= sort <= span.high]
        found = sorted(lines, key=lambda line: line.sort, reverse=newest)[:limit]
        self._bill("read", _read_units(200 * len(found)) / 2)
        return found

    async def write(self, write: Write) -> Refused | None:
        """See Table.write."""
        standing = self._standing(write.key)
        if not _holds(write.when, standing):
            self._bill("write", _write_units(_size(standing)))
            return Refused(standing)
        self._bill("write", self._do(write))
        return None

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        """See Table.transact."""
        if len({write.key for write in writes}) < len(writes):
            raise TemporaryError("one item twice")
        for write in writes:
            _check(_written(write, self._standing(write.key)))
        for write in writes:
            if not _holds(write.when, standing := self._standing(write.key)):
                self._bill("write", 2 * len(writes))
                return Refused(standing)
        self._bill("write", 2 * sum(map(self._do, writes)))
        return None

    async def delete_all(self, keys: Sequence[Key]) -> None:
        """See Table.delete_all."""
        if keys:
            self._bill("write", sum(self._do(Delete(key)) for key in dict.fromkeys(keys)), -(-len(keys) // 25))

    async def scan(self, sk: str) -> Sequence[Key]:
        """See Table.scan."""
        return [Key(pk, sk) for pk, items in self._items.items() if sk in items]

    def _standing(self, key: Key) -> Item | None:
        return self._items[key.pk].get(key.sk)

    def _do(self, write: Write) -> int:
        """Write, and return the billed units without those of the index."""
        before = self._standing(write.key)
        after = _written(write, before)
        _check(after)
        if after is None:
            self._items[write.key.pk].pop(write.key.sk, None)
        else:
            self._items[write.key.pk][write.key.sk] = after
        self._show(write.key, before, after)
        return _write_units(max(_size(before), _size(after)))

    def _show(self, key: Key, before: Item | None, after: Item | None) -> None:
        was, becomes = _line(before), _line(after)
        if was == becomes:
            return
        self._bill("write", (was is not None) + (becomes is not None), 0)
        coming = self._coming.setdefault(key, [])
        # Late, but never in another order than it was written.
        at = max(self._now() + self._lag(), coming[-1][0] if coming else 0.0)
        coming.append((at, becomes))

    def _catch_up(self) -> None:
        for key, coming in list(self._coming.items()):
            while coming and coming[0][0] <= self._now():
                _, line = coming.pop(0)
                if key in self._partitions:
                    del self._shown[self._partitions.pop(key)][key]
                if line:
                    partition, sort = line
                    self._shown[partition][key] = sort
                    self._partitions[key] = partition
            if not coming:
                del self._coming[key]

    def _bill(self, what: str, units: float, requests: int = 1) -> None:
        self.units[what] += units  # type: ignore[assignment]
        self.units["requests"] += requests


def _holds(when: Condition | None, item: Item | None) -> bool:
    match when:
        case None:
            return True
        case Absent():
            return item is None
        case Exists():
            return item is not None
        case Lacks(name=name):
            return item is not None and name not in item
        case OneOf(name=name, values=values):
            return item is not None and name in item and item[name] in values
        case AtMost(name=name, value=value):
            return item is not None and name in item and item[name] <= value  # type: ignore[operator]
        case Either(conditions=conditions):
            return any(_holds(condition, item) for condition in conditions)
        case Both(conditions=conditions):
            return all(_holds(condition, item) for condition in conditions)
        case _:
            assert_never(when)


def _written(write: Write, before: Item | None) -> Item | None:
    """Return the item after the write."""
    match write:
        case Put(item=item):
            return dict(item)
        case Delete():
            return None
        case Update(key=key, sets=sets, initial=initial, removes=removes, adds=adds):
            after: dict[str, Value] = {**initial, **(before or {"pk": key.pk, "sk": key.sk}), **sets}
            for name, number in adds.items():
                after[name] = after.get(name, 0) + number  # type: ignore[operator]
            return {name: value for name, value in after.items() if name not in removes}
        case _:
            assert_never(write)


def _check(item: Item | None) -> None:
    if item is None:
        return
    key = key_of(item)
    if not key.pk or not key.sk or _size(item) > ITEM_BYTES:
        raise TemporaryError("DynamoDB takes no empty key and no item above 400 KB")


def _line(item: Item | None) -> Line | None:
    if item is None or "gsi_pk" not in item:
        return None
    return str(item["gsi_pk"]), str(item["gsi_sk"])


def _size(item: Mapping[str, Value] | None) -> int:
    return sum(len(name) + _length(value) for name, value in (item or {}).items())


def _length(value: Value) -> int:
    match value:
        case bytes():
            return len(value)
        case str():
            return len(value.encode())
        case bool():
            return 1
        case _:
            return 8


def _read_units(size: int) -> int:
    return max(1, -(-size // 4_096))


def _write_units(size: int) -> int:
    return max(1, -(-size // 1_024))
