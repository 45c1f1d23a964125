"""The bodies of a run: values that are too large for a frame.

A field above 16 KB is stored as a blob before its frame is written. Then the largest other fields follow until the
frame is below 128 KB. Spilled fields are compressed; files are stored as they came, because most documents and pictures
are compressed already. Bodies are sealed and named by the hash of their ciphertext. Readers restore them, so code above
the journal never sees bodies.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gofer.journal.blob_store import Bodies, blob_key
from gofer.journal.compression import compress, decompress
from gofer.journal.frames import UNCOMPRESSED, Body, Frame, close_frame, encode_frame
from gofer.journal.seal import Seal
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt

INLINE_LIMIT = 16_384
FRAME_LIMIT = 131_072
_OVERHEAD = 1_024
"""Bytes reserved for the other fields of a frame, its seal and the list of bodies."""
_PLACE = "body"
_FILE = "file"
"""The places that the seals of spilled fields and of files are bound to."""

Objects = Sequence[Mapping[str, object]]


def too_large(entries: Objects) -> bool:
    """Return whether entries may have fields that must be stored as bodies."""
    return len(encode(entries)) > INLINE_LIMIT


async def stored_frame(frame: Frame, blobs: Bodies, seal: Seal) -> bytes:
    """Return the bytes of a frame as they are stored. Fields that are too large are stored as bodies first."""
    encoded = encode_frame(frame)
    if len(encoded) > INLINE_LIMIT:
        entries, bodies = await spill(blobs, frame.entries, seal)
        frame = replace(frame, entries=entries, bodies=bodies)
        encoded = encode_frame(frame)
    return close_frame(frame, encoded, seal)


async def spill(blobs: Bodies, entries: Objects, seal: Seal) -> tuple[Objects, tuple[Body, ...]]:
    """Store fields that are too large in the folder of the run; return the entries without them, and their places."""
    size = len(encode(entries))
    if size <= INLINE_LIMIT:
        return entries, ()
    kept = [dict(entry) for entry in entries]
    bodies: list[Body] = []
    seal = seal.root
    for i, field, value in _largest_first(entries):
        if len(value) <= INLINE_LIMIT and size <= FRAME_LIMIT - _OVERHEAD - 120 * len(bodies):
            break
        bodies.append(Body(i, field, await _store(blobs, seal, _PLACE, compress(value))))
        del kept[i][field]
        size -= len(value)
    return kept, tuple(bodies)


async def keep(blobs: Bodies, seal: Seal, content: bytes) -> str:
    """Store the content of a file in the folder of the run; return the name of the body. Raises TemporaryError."""
    return await _store(blobs, seal, _FILE, content)


async def _store(blobs: Bodies, seal: Seal, place: str, plain: bytes) -> str:
    """Store a body in the folder of the root, sealed with its key; subagent runs share both."""
    sealed = seal.root.close(place, plain)
    key = blob_key(seal.root.run, sealed)
    await blobs.put(key, sealed)
    return key.rpartition("/")[2]


def take(seal: Seal, sealed: bytes) -> bytes:
    """Return the content of a stored file. Raises Corrupt."""
    return seal.root.open(_FILE, sealed)


async def restore(blobs: Bodies, frame: Frame, seal: Seal) -> Objects:
    """Return the entries of a frame with their spilled fields restored. Raises Corrupt."""
    if not frame.bodies:
        return frame.entries
    entries = [dict(entry) for entry in frame.entries]
    seal = seal.root
    for body in frame.bodies:
        raw = seal.open(_PLACE, await blobs.get(f"{seal.run}/{body.sha256}"))
        try:
            if frame.format != UNCOMPRESSED:
                raw = decompress(raw)
            entries[body.i][body.field] = json.loads(raw)
        except (Corrupt, ValueError, IndexError) as error:
            raise Corrupt("A body does not fit its place; restore the run from a backup.") from error
    return entries


def _largest_first(entries: Objects) -> list[tuple[int, str, bytes]]:
    fields = [
        (i, field, encode(value))
        for i, entry in enumerate(entries)
        for field, value in entry.items()
        if field != "kind"
    ]
    return sorted(fields, key=lambda item: (-len(item[2]), item[0], item[1]))
