"""The table that a store asks of DynamoDB: items under two keys, conditional writes, one sparse index.

What is read by key is consistent. The index is not: it lags, and holds keys only, so a reader of it looks at the
items themselves before acting on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

Value: TypeAlias = str | int | float | bool | bytes
Item: TypeAlias = Mapping[str, Value]
"""All attributes of an item, `pk` and `sk` among them."""

INDEX = "sweep"
KEY = "key"
"""The sort key of items that are kept in a table of their own, so that they can be restored for a shorter time."""
EXPIRES = "expires_at"
"""Unix seconds after which DynamoDB may remove an item whenever it likes, or never: nothing is concluded from it."""
ITEM_LIMIT = 390_000
"""Bytes of one value at most, below the 400 KB of an item."""
FIRST = " "
"""Sorts before every key; DynamoDB takes no empty key."""
LAST = "\U0010ffff"
"""Sorts behind every key."""


@dataclass(frozen=True, slots=True)
class Key:
    """Where an item stands."""

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
    """Its `gsi_sk`."""


@dataclass(frozen=True, slots=True)
class Free:
    """Nothing stands there."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Something stands there."""


@dataclass(frozen=True, slots=True)
class Is:
    """An attribute has one of these values."""

    name: str
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class AtMost:
    """An attribute is there and not above a number."""

    name: str
    value: int | float


@dataclass(frozen=True, slots=True)
class Either:
    """One of several conditions holds."""

    conditions: Sequence["Condition"]


@dataclass(frozen=True, slots=True)
class Both:
    """All of several conditions hold."""

    conditions: Sequence["Condition"]


Condition: TypeAlias = Free | Standing | Is | AtMost | Either | Both


@dataclass(frozen=True, slots=True)
class Put:
    """Replaces an item as a whole."""

    item: Item
    when: Condition | None = None

    @property
    def key(self) -> Key:
        """Where it goes."""
        return key_of(self.item)


@dataclass(frozen=True, slots=True)
class Update:
    """Changes attributes of an item, which is made when it is not there."""

    key: Key
    sets: Item = field(default_factory=dict[str, Value])
    initial: Item = field(default_factory=dict[str, Value])
    """Attributes that are set only where there are none."""
    removes: Sequence[str] = ()
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Removes an item; nothing happens when there is none."""

    key: Key
    when: Condition | None = None


Write: TypeAlias = Put | Update | Delete


@dataclass(frozen=True, slots=True)
class Refused:
    """A condition did not hold, so nothing was written."""

    standing: Item | None
    """The item that stands there, None when there is none."""


class Table(Protocol):
    """One table, and beside it the one of KEY items.

    Every call may raise TemporaryError, and then whether something was written is not known.
    """

    async def get(self, key: Key) -> Item | None:
        """One item, or None."""
        ...

    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        """Those of the items that are there, in any order."""
        ...

    async def query(self, span: Span, *, limit: int = 0, newest: bool = False) -> Sequence[Item]:
        """Items in the order of `sk`, or backwards; all of them, or the first `limit`."""
        ...

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        """Up to `limit` lines of the index by `gsi_pk` and `gsi_sk`; some may be missing or stale."""
        ...

    async def write(self, write: Write) -> Refused | None:
        """One write; None when it was done."""
        ...

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        """Several writes of different items, all or none; None when they were done.

        Twice as dear as one by one, so only where a half would be wrong.
        """
        ...

    async def delete_all(self, keys: Sequence[Key]) -> None:
        """Removes items, each for itself."""
        ...

    async def scan(self, sk: str) -> Sequence[Key]:
        """All keys of the table with this `sk`; reads the whole table."""
        ...


def key_of(item: Item) -> Key:
    """The key of an item."""
    return Key(str(item["pk"]), str(item["sk"]))


def prefixed(pk: str, prefix: str) -> Span:
    """What begins with a prefix."""
    return Span(pk=pk, low=prefix, high=prefix + LAST)
