"""The items of the store in DynamoDB, and their keys.

    run#<run>            frame#<n>                  a frame; frame 1 also holds the time of the claim
    run#<run>            key                        the key of the run, in the table of keys
    run#<run>            head                       the head of the run
    run#<run>            item#<id>                  an item of the inbox
    run#<run>            usage#<scope>              the time in the key of the run's usage row
    conversation#<hash>  open#<accepted>#<run>      a run that has not ended
    conversation#<hash>  ended#<workflow>#<accepted>#<run>
    conversation#<hash>  lease                      the owner of the conversation
    usage#<scope>        <at>#<run>                 the usage row of a run
    spent#<scope>        <until>#<shard>            the amounts of the runs of five minutes
    spent                since                      when these counters were read for the first time
    memo#<hash>          memo                       a memo for later runs
    marked               until                      the age up to which earlier versions ended runs without marks

The index has a line for each claim, head and row of an unfinished run, sorted by age. Its lists are spread over
shards (`sharded_index.py`):

    claimed#<shard>                              <claimed>#<run>    frame 1
    open#<shard>                                 <touched>#<run>    the head of a run that has not ended
    ended#<retention>#<public, private>#<shard>  <touched>#<run>    the head of a run that ended
    place#<hash>#<shard>                         <accepted>#<run>   the row `open#` of a conversation of the place
    marked#<mark>#<shard>                        <touched>#<run>    the row `ended#` of a run with a mark
"""

import hashlib

from gofer.journal.coordination import Head, Mark, Retention, place_of
from gofer.stores.aws.sharded_index import MARKED, OPEN, PLACE, shard_of
from gofer.stores.aws.table import KEY, Item, Key, Span, Value, prefixed
from gofer.values.errors import Corrupt

CLAIMED = "claimed"
"""The list of claims in the index."""
FRAMES = "frame#"
ITEMS = "item#"
SCOPES = "usage#"
OPENED = "open#"
ENDED = "ended#"
"""The prefixes of sort keys."""
RETENTIONS: tuple[Retention, ...] = ("due", "kept", "unseen", "deleting", "deleted")

_TYPES = (str, str, str, int, str, bool, int, str, int, int, str, bool, str)
_NAMES = (
    *("run", "workflow", "conversation", "accepted_at", "status", "private"),
    *("updated_at", "reason", "wakes_at", "frames", "facts", "by_person", "retention"),
)
_LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999; a larger number is no valid time."""


def run_pk(run: str) -> str:
    """Return the partition key of a run."""
    return f"run#{run}"


def conversation_pk(conversation: str) -> str:
    """Return the partition key of a conversation, a hash: keys have a length limit, conversations have none."""
    return f"conversation#{_hash(conversation)}"


def frame_key(run: str, n: int) -> Key:
    """Return the key of frame `n` of a run."""
    return Key(run_pk(run), f"{FRAMES}{n:08d}")


def key_key(run: str) -> Key:
    """Return the item key of the encryption key of a run."""
    return Key(run_pk(run), KEY)


def frame_span(run: str) -> Span:
    """Return the span of all frames of a run."""
    return prefixed(run_pk(run), FRAMES)


def head_key(run: str) -> Key:
    """Return the key of the head of a run."""
    return Key(run_pk(run), "head")


def lease_key(conversation: str) -> Key:
    """Return the key of the lease of a conversation."""
    return Key(conversation_pk(conversation), "lease")


def memo_key(key: str) -> Key:
    """Return the key of a memo."""
    return Key(f"memo#{_hash(key)}", "memo")


def open_key(head: Head) -> Key:
    """Return the key of the row of a conversation for a run that has not ended."""
    return Key(conversation_pk(head.conversation), f"{OPENED}{head.accepted_at:015d}#{head.run}")


def ended_key(head: Head) -> Key:
    """Return the key of the row of a conversation for a run that ended."""
    return Key(conversation_pk(head.conversation), f"{ENDED}{head.workflow}#{head.accepted_at:015d}#{head.run}")


def open_row(head: Head) -> Item:
    """Return the row of a conversation for a run that has not ended, with its line in the list of the place."""
    partition = shard_of(place_list(place_of(head.conversation)), head.run)
    return row(open_key(head), run=head.run, gsi_pk=partition, gsi_sk=age_key(head.accepted_at, head.run))


def ended_row(head: Head) -> Item:
    """Return the row of a conversation for a run that ended, with its line in the list of its mark if it has one."""
    if not head.mark:
        return row(ended_key(head), run=head.run)
    partition = shard_of(mark_list(head.mark), head.run)
    return row(ended_key(head), run=head.run, gsi_pk=partition, gsi_sk=sort_key_of(head))


def mark_list(mark: Mark) -> str:
    """Return the name of the list of the runs with a mark, which is spread over shards."""
    return f"{MARKED}{mark}"


def place_list(place: str) -> str:
    """Return the name of the list of the unfinished runs of a place, which is spread over shards."""
    return f"{PLACE}{_hash(place)}"


def row(key: Key, /, **attributes: Value) -> Item:
    """Return an item with a key and attributes."""
    return {"pk": key.pk, "sk": key.sk, **attributes}


def age_key(at: int, *names: str) -> str:
    """Return a sort key of the index, by time (unix ms) and then by names."""
    return "#".join((f"{at:015d}", *names))


def sort_key_of(head: Head) -> str:
    """Return the sort key of a head in its partition of the index."""
    return age_key(head.touched_at, head.run)


def partition_of(head: Head) -> str:
    """Return the shard of the index that a head belongs to."""
    if head.ended:
        return shard_of(ended_partition(head.retention, private=head.private), head.run)
    return shard_of(OPEN, head.run)


def ended_partition(retention: Retention, *, private: bool) -> str:
    """Return the partition of the index for ended heads, which is spread over shards."""
    return f"ended#{retention}#{'private' if private else 'public'}"


def head_item(head: Head) -> Item:
    """Return the item of a head."""
    names = {name: getattr(head, name) for name in _NAMES}
    return row(head_key(head.run), **names, gsi_pk=partition_of(head), gsi_sk=sort_key_of(head))


def head_of(item: Item) -> Head:
    """Return the head in an item. Raises Corrupt."""
    # Heads of earlier versions lack these.
    whole = {"facts": "", "by_person": False, **item}
    values = tuple(whole.get(name) for name in _NAMES)
    if tuple(map(type, values)) == _TYPES:
        head = Head(*values)  # pyright: ignore[reportArgumentType]
        times = (head.accepted_at, head.updated_at, head.wakes_at)
        if all(0 <= at <= _LATEST for at in times) and head_key(head.run).pk == item["pk"]:
            return head
    raise Corrupt(f"The list row of {ascii(item.get('pk'))[1:-1]} is damaged; restore the table from a backup.")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:40]
