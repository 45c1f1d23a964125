"""The items of a store in DynamoDB, and their keys.

    run#<run>            frame#<n>                  a frame; the first also holds when it was claimed
    run#<run>            key                        the key, in a table of its own
    run#<run>            head                       the head
    run#<run>            item#<id>                  something in the inbox
    run#<run>            usage#<scope>              when a row of usage of this run stands
    conversation#<hash>  open#<accepted>#<run>      a run that has not ended
    conversation#<hash>  ended#<workflow>#<accepted>#<run>
    conversation#<hash>  lease                      who has the conversation
    usage#<scope>        <at>#<run>                 what a run used
    memo#<hash>          memo                       what a later run has to know

The index has a line for each claim, each head, each row of usage and each memo, by its age.
"""

import hashlib

from gofer.journal.coordination import Head, Retention
from gofer.stores.aws.table import KEY, Item, Key, Span, Value, prefixed
from gofer.values.errors import Corrupt

CLAIMED = "claimed"
USED = "usage"
REMEMBERED = "memo"
OPEN = "unfinished"
"""Partitions of the index, beside those of heads that ended."""
FRAMES = "frame#"
ITEMS = "item#"
SCOPES = "usage#"
OPENED = "open#"
ENDED = "ended#"
"""How sort keys begin."""
RETENTIONS: tuple[Retention, ...] = ("due", "kept", "deleting", "deleted")

_TYPES = (str, str, str, int, str, bool, int, str, int, int, str)
_NAMES = (
    *("run", "workflow", "conversation", "accepted_at", "status", "private"),
    *("updated_at", "reason", "wakes_at", "frames", "retention"),
)
_LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999; a number beyond it was never a time."""


def run_pk(run: str) -> str:
    """The partition of a run."""
    return f"run#{run}"


def conversation_pk(conversation: str) -> str:
    """The partition of a conversation; hashed, as a key has a limit and a conversation has none."""
    return f"conversation#{_hash(conversation)}"


def frame_key(run: str, n: int) -> Key:
    """Where frame `n` of a run stands."""
    return Key(run_pk(run), f"{FRAMES}{n:08d}")


def key_key(run: str) -> Key:
    """Where the key of a run stands."""
    return Key(run_pk(run), KEY)


def frame_span(run: str) -> Span:
    """All frames of a run."""
    return prefixed(run_pk(run), FRAMES)


def head_key(run: str) -> Key:
    """Where the head of a run stands."""
    return Key(run_pk(run), "head")


def lease_key(conversation: str) -> Key:
    """Where the lease of a conversation stands."""
    return Key(conversation_pk(conversation), "lease")


def memo_key(key: str) -> Key:
    """Where a memo stands."""
    return Key(f"memo#{_hash(key)}", "memo")


def open_key(head: Head) -> Key:
    """Where a conversation says that a run of it has not ended."""
    return Key(conversation_pk(head.conversation), f"{OPENED}{head.accepted_at:015d}#{head.run}")


def ended_key(head: Head) -> Key:
    """Where a conversation says that a run of it ended."""
    return Key(conversation_pk(head.conversation), f"{ENDED}{head.workflow}#{head.accepted_at:015d}#{head.run}")


def row(key: Key, /, **attributes: Value) -> Item:
    """An item at a key."""
    return {"pk": key.pk, "sk": key.sk, **attributes}


def after(sort: str) -> str:
    """The lowest sort key behind one, as far as ids go."""
    return f"{sort}\x01"


def aged(at: int, *names: str) -> str:
    """A sort key of the index: by time (unix ms), then by names."""
    return "#".join((f"{at:015d}", *names))


def sort_of(head: Head) -> str:
    """Where a head stands in its partition of the index."""
    return aged(head.touched_at, head.run)


def partition_of(head: Head, retention: Retention | None = None) -> str:
    """The partition of the index that a head belongs to."""
    if not head.ended:
        return OPEN
    return ended_partition(retention or head.retention, private=head.private)


def ended_partition(retention: Retention, *, private: bool) -> str:
    """The partition of the index for heads that ended."""
    return f"ended#{retention}#{'private' if private else 'public'}"


def head_item(head: Head) -> Item:
    """The item of a head."""
    names = {name: getattr(head, name) for name in _NAMES}
    return row(head_key(head.run), **names, gsi_pk=partition_of(head), gsi_sk=sort_of(head))


def head_of(item: Item) -> Head:
    """The head that an item stands for. Raises Corrupt."""
    values = tuple(item.get(name) for name in _NAMES)
    if tuple(map(type, values)) == _TYPES:
        head = Head(*values)  # pyright: ignore[reportArgumentType]
        times = (head.accepted_at, head.updated_at, head.wakes_at)
        if all(0 <= at <= _LATEST for at in times) and head_key(head.run).pk == item["pk"]:
            return head
    raise Corrupt(f"The list row of {ascii(item.get('pk'))[1:-1]} is not what was written; restore the table.")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:40]
