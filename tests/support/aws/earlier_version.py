"""The writes of a version before lists of places and marks, on the same table as those of the current version."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.coordination import UNFINISHED
from gofer.stores.aws.items import conversation_pk
from gofer.stores.aws.sharded_index import OPEN, UNPLACED
from gofer.stores.aws.table import Condition, Item, OneOf, Put, Refused, Update, Write
from support.aws.memory_table import MemoryTable

_ROWS = conversation_pk("").partition("#")[0]


class EarlierTable(MemoryTable):
    """A view of a table that changes all writes into those of the earlier version."""

    def __init__(self, table: MemoryTable) -> None:
        super().__init__()
        # One set of items and of index lines for both versions.
        self.__dict__.update(table.__dict__)

    async def write(self, write: Write) -> Refused | None:
        if write.key.pk == "marked":
            return None
        return await super().write(_earlier(write))

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        return await super().transact([_earlier(write) for write in writes])


def _earlier(write: Write) -> Write:
    match write:
        case Put(item=item):
            return replace(write, item=_unplaced(item))
        case Update(sets=sets, when=when):
            return replace(write, sets=_unplaced(sets), when=_earlier_condition(when))
        case _:
            return write


def _unplaced(item: Item) -> Item:
    """Return the attributes as the earlier version wrote them: another list of heads, and no line for a row."""
    if str(item.get("pk", "")).startswith(_ROWS):
        return {name: value for name, value in item.items() if not name.startswith("gsi_")}
    name, _, shard = str(item.get("gsi_pk", "")).partition("#")
    if name != OPEN:
        return item
    return {**item, "gsi_pk": f"{UNPLACED}#{shard}"}


def _earlier_condition(when: Condition | None) -> Condition | None:
    match when:
        case OneOf(name="gsi_pk"):
            return OneOf("status", UNFINISHED)
        case _:
            return when
