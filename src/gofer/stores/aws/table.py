"""The protocol of a table as the stores need it: items under two keys, conditional writes, one sparse index.

Reads by key are consistent. The index lags behind and holds keys only, so its readers read the items again before
they act on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

Value: TypeAlias = str | int | float | bool | bytes
Item: TypeAlias = Mapping[str, Value]
"""All attributes of an item, including `pk` and `sk`."""

INDEX = "sweep"
KEY = "key"
"""The sort key of items in the table of keys, whose backups are kept for a shorter time."""
EXPIRES = "expires_at"
"""The attribute with the unix seconds after which DynamoDB may remove an item, at any time or never."""
ITEM_LIMIT = 390_000
"""The most bytes of one value, below the 400 KB limit of an item."""
FIRST = " "
"""A string that sorts before every key; DynamoDB accepts no empty key."""
LAST = "\U0010ffff"
"""A string that sorts after every key."""


@dataclass(frozen=True, slots=True)
class Key:
    """The primary key of an item."""

    pk: str
    sk: str


@dataclass(frozen=True, slots=True)
class Span:
    """Items of one partition from `low` to `high`, both included."""

    pk: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """One line of the index."""

    key: Key
    sort: str
    """The attribute `gsi_sk` of the item."""


@dataclass(frozen=True, slots=True)
class Absent:
    """The condition that no item has the key."""


@dataclass(frozen=True, slots=True)
class Exists:
    """The condition that an item has the key."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The condition that an attribute has one of these values."""

    name: str
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Lacks:
    """The condition that an item exists and has no such attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class AtMost:
    """The condition that an attribute exists and is at most a number."""

    name: str
    value: int | float


@dataclass(frozen=True, slots=True)
class Either:
    """The condition that at least one of several conditions holds."""

    conditions: Sequence["Condition"]


@dataclass(frozen=True, slots=True)
class Both:
    """The condition that all of several conditions hold."""

    conditions: Sequence["Condition"]


Condition: TypeAlias = Absent | Exists | Lacks | OneOf | AtMost | Either | Both


@dataclass(frozen=True, slots=True)
class Put:
    """A write that replaces a whole item."""

    item: Item
    when: Condition | None = None

    @property
    def key(self) -> Key:
        """The key of the item."""
        return key_of(self.item)


@dataclass(frozen=True, slots=True)
class Update:
    """A write that changes attributes of an item, and creates the item if it is missing."""

    key: Key
    sets: Item = field(default_factory=dict[str, Value])
    initial: Item = field(default_factory=dict[str, Value])
    """Attributes that are set only if they are missing."""
    removes: Sequence[str] = ()
    when: Condition | None = None
    adds: Mapping[str, float] = field(default_factory=dict[str, float])
    """Numbers that are added to attributes; a missing attribute counts as 0."""


@dataclass(frozen=True, slots=True)
class Delete:
    """A write that removes an item; nothing happens if it is missing."""

    key: Key
    when: Condition | None = None


Write: TypeAlias = Put | Update | Delete


@dataclass(frozen=True, slots=True)
class Refused:
    """The result of a write with a condition that did not hold: nothing was written."""

    stored: Item | None
    """The stored item that failed the condition, or None if there is no item."""


class Table(Protocol):
    """The main table and the table of KEY items.

    Every call may raise TemporaryError. The caller then cannot tell whether the write happened.
    """

    async def get(self, key: Key) -> Item | None:
        """Return an item, or None."""
        ...

    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        """Return the items that exist, in any order, each once."""
        ...

    async def query(self, span: Span, *, limit: int = 0, newest: bool = False) -> Sequence[Item]:
        """Return the items of a span by `sk`, descending if `newest`; all of them, or the first `limit`."""
        ...

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        """Return up to `limit` lines of the index by `gsi_sk`; some may be missing or stale."""
        ...

    async def write(self, write: Write) -> Refused | None:
        """Write one item; return None, or Refused if the condition did not hold."""
        ...

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        """Write several different items, all or none; return None, or the first refusal.

        A transaction costs twice as much as single writes, so use it only where a part would be wrong.
        """
        ...

    async def delete_all(self, keys: Sequence[Key]) -> None:
        """Remove items; not atomic, a part may be removed when this raises."""
        ...

    async def scan(self, sk: str) -> Sequence[Key]:
        """Return all keys with this `sk`. Reads the whole table."""
        ...


def key_of(item: Item) -> Key:
    """Return the key of an item."""
    return Key(str(item["pk"]), str(item["sk"]))


def prefixed(pk: str, prefix: str) -> Span:
    """Return the span of all sort keys with a prefix."""
    return Span(pk=pk, low=prefix, high=prefix + LAST)
