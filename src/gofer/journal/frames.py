"""The frames of a journal, and the chain of hashes between them.

A frame is `{at, owner, nonce, entries}` in canonical JSON, plus `bodies` when fields were spilled, compressed and then
sealed for its position. Before the sealed part come two plain fields: the format, and `prev_hash`, the hash of the
stored bytes of the frame before. A reader without the key can thus detect changed, lost or reordered frames.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.journal.compression import compress, decompress
from gofer.journal.entries import FORMAT
from gofer.journal.seal import Seal
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt, EarlierVersion, OtherVersion

FORM = bytes([FORMAT])
"""The first byte of every frame that is written."""
UNCOMPRESSED = 2
"""The format before the present one, which is read too: its frames and bodies are not compressed."""
_READABLE = (FORM, bytes([UNCOMPRESSED]))
GENESIS = bytes(32)
"""The `prev_hash` of frame 1."""
_HEADER = len(FORM) + len(GENESIS)


@dataclass(frozen=True, slots=True)
class Body:
    """The place of a spilled value: field `field` of entry `i`. The blob `sha256` holds its sealed canonical JSON."""

    i: int
    field: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One immutable write of a run: `entries` are JSON objects, and `bodies` are the places of spilled fields."""

    n: int
    at: int
    """Unix milliseconds."""
    owner: str
    nonce: str
    """Unique per write; tells the owner's own write, whose response was lost, from a frame of another owner."""
    prev_hash: bytes
    entries: Sequence[Mapping[str, object]]
    bodies: Sequence[Body] = ()
    format: int = FORMAT
    """The format in which the frame and its bodies are stored."""


def encode_frame(frame: Frame) -> bytes:
    """Return the content of a frame in canonical JSON."""
    value: dict[str, object] = {
        "at": frame.at,
        "owner": frame.owner,
        "nonce": frame.nonce,
        "entries": frame.entries,
    }
    if frame.bodies:
        value["bodies"] = [[body.i, body.field, body.sha256] for body in frame.bodies]
    return encode(value)


def close_frame(frame: Frame, encoded: bytes, seal: Seal) -> bytes:
    """Return the bytes of a frame as they are stored, from its encoded content."""
    header = FORM + frame.prev_hash
    return header + seal.close(f"frame {frame.n}", compress(encoded), header)


def frame_hash(stored: bytes) -> bytes:
    """Return the hash of a stored frame for the `prev_hash` of the next one."""
    return hashlib.sha256(stored).digest()


def check_chain(run: str, stored: Sequence[bytes]) -> None:
    """Check without a key that each frame follows the one before. Raises Corrupt naming the first that does not."""
    previous = GENESIS
    for n, raw in enumerate(stored, start=1):
        if not raw.startswith(_READABLE):
            raise _unreadable_form(run, n)
        _check_link(run, n, raw, previous)
        previous = frame_hash(raw)


def open_chain(stored: Sequence[bytes], seal: Seal) -> list[Frame]:
    """Return all frames of a run, from the first on.

    Raises OtherVersion, and Corrupt naming the first damaged frame.
    """
    return list(opened(stored, seal))


def opened(stored: Sequence[bytes], seal: Seal) -> Iterator[Frame]:
    """Yield the frames of a run up to the first damaged one, for which this raises as `open_chain` does."""
    previous = GENESIS
    for n, raw in enumerate(stored, start=1):
        if not raw.startswith(_READABLE):
            raise _other_form(n, raw, seal)
        _check_link(seal.run, n, raw, previous)
        # Opened before the next link is checked, so that the error names the changed frame and not the next one.
        yield open_alone(n, raw, seal)
        previous = frame_hash(raw)


def _check_link(run: str, n: int, raw: bytes, previous: bytes) -> None:
    if raw[len(FORM) : _HEADER] != previous:
        raise Corrupt(f"Run {run} is damaged at frame {n}: it does not follow the frame before it.")


def _other_form(n: int, raw: bytes, seal: Seal) -> Corrupt:
    """Return the error for a frame with another first byte. The seal tells another version from a changed byte."""
    try:
        seal.open(f"frame {n}", raw[_HEADER:], raw[:_HEADER])
    except Corrupt:
        return _unreadable_form(seal.run, n)
    written = raw[0]
    forms = f"format {written}, and this version reads format {FORMAT}"
    if written < FORMAT:
        return EarlierVersion(
            f"Run {seal.run} was written by an earlier version of Gofer ({forms}); finish it with that version."
        )
    return OtherVersion(f"Run {seal.run} was written by a newer version of Gofer ({forms}); update Gofer.")


def _unreadable_form(run: str, n: int) -> Corrupt:
    return Corrupt(f"Run {run} is damaged at frame {n}, or another version of Gofer wrote it; read it with that one.")


def open_alone(n: int, raw: bytes, seal: Seal) -> Frame:
    """Return one frame without a check of the frame before it. Raises Corrupt."""
    header = raw[:_HEADER]
    plain = seal.open(f"frame {n}", raw[_HEADER:], header)
    try:
        if header[0] != UNCOMPRESSED:
            plain = decompress(plain)
        value = cast(dict[str, object], json.loads(plain))
        bodies = cast(list[tuple[int, str, str]], value.pop("bodies", []))
        place = {"n": n, "prev_hash": header[len(FORM) :], "format": header[0]}
        return Frame(**value, **place, bodies=[Body(*body) for body in bodies])  # pyright: ignore[reportArgumentType]
    except (Corrupt, ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"Run {seal.run} is damaged at frame {n}: it is not a frame this Gofer can read.") from error
