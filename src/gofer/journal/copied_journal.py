"""The copy of a whole journal into another place, with its times and owners, under another id."""

from collections.abc import Mapping, MutableMapping, Sequence
from itertools import groupby

from gofer.journal.blob_store import Bodies
from gofer.journal.bodies import Objects, keep, stored_frame
from gofer.journal.codec import to_json
from gofer.journal.entries import Recorded
from gofer.journal.frame_counts import note_frames
from gofer.journal.frames import GENESIS, frame_hash
from gofer.journal.lineage import root_of
from gofer.journal.log import Pen
from gofer.journal.seal import Seal, seal_of
from gofer.journal.store import Store
from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.errors import Fenced
from gofer.values.outside import Outside


async def write_copy(
    run: str,
    entries: Sequence[Recorded],
    renamed: MutableMapping[str, str],
    files: Mapping[str, bytes],
    store: Store,
    blobs: Bodies,
    outside: Outside,
) -> int:
    """Write the entries as the journal of a new run, and return the number of its frames.

    `renamed` has the new id for each old id of a root, which is replaced wherever it occurs, so that links lead to the
    copies. `files` are the contents of the stored files of the run, by the name of the body; `renamed` gets the names
    of their copies. The journal of a subagent run is written after that of its root. Raises Fenced if the run exists,
    and TemporaryError.
    """
    key = b""
    if root_of(run) == run:
        key = outside.new_key()
        seal = Seal(run, key)
    else:
        seal = await seal_of(run, store)
    for body, content in files.items():
        renamed[body] = await keep(blobs, seal, content)
    now = int(outside.clock.now() * 1000)
    previous = GENESIS
    n = 0
    for _, group in groupby(entries, key=lambda recorded: recorded.n):
        n += 1
        together = list(group)
        frame = Pen(together[0].owner, outside).frame(n, together[0].at, previous, _objects(together, renamed))
        raw = await stored_frame(frame, blobs, seal)
        if n == 1:
            existing = await store.claim(run, raw, key, now)
        else:
            existing = await store.create(run, n, raw)
        if existing is not None:
            raise Fenced(f"Run {run} exists already.")
        previous = frame_hash(raw)
    await note_frames(run, n, store, now)
    return n


def _objects(entries: Sequence[Recorded], renamed: Mapping[str, str]) -> Objects:
    return [_renamed(encode(to_json(recorded.entry)), renamed) for recorded in entries]


def _renamed(entry: bytes, renamed: Mapping[str, str]) -> dict[str, object]:
    # The id of a root is 24 hexadecimal digits that occur only as this id, and the name of a body is a hash.
    for old, new in renamed.items():
        entry = entry.replace(old.encode(), new.encode())
    return dict(as_object(decode(entry)))
