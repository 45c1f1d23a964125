"""What is a frame, and how do its bytes chain to the one before?

A frame is `{n, at, owner, nonce, prev_hash, entries}` in canonical JSON, plus `bodies` when values were spilled.
Its hash covers the stored bytes, so any change, loss or reordering of frames breaks the chain.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.canonical import encode
from gofer.errors import Damaged

GENESIS = ""
"""`prev_hash` of frame 1."""


@dataclass(frozen=True, slots=True)
class Body:
    """Where a spilled value belongs: entry `i`, field `field`; its canonical JSON is the blob `sha256`."""

    i: int
    field: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One immutable write of a run. `entries` are JSON objects whose spilled fields stand in `bodies`."""

    n: int
    at: int
    """Unix milliseconds."""
    owner: str
    nonce: str
    """Unique per write: tells our own lost response from somebody else's frame."""
    prev_hash: str
    entries: Sequence[Mapping[str, object]]
    bodies: Sequence[Body] = ()


def frame_bytes(frame: Frame) -> bytes:
    """The canonical bytes of a frame, as every store keeps them."""
    value: dict[str, object] = {
        "n": frame.n,
        "at": frame.at,
        "owner": frame.owner,
        "nonce": frame.nonce,
        "prev_hash": frame.prev_hash,
        "entries": frame.entries,
    }
    if frame.bodies:
        value["bodies"] = [[body.i, body.field, body.sha256] for body in frame.bodies]
    return encode(value)


def frame_hash(stored: bytes) -> str:
    """The hash by which the next frame names this one."""
    return hashlib.sha256(stored).hexdigest()


def parse_chain(run: str, stored: Sequence[bytes]) -> list[Frame]:
    """All frames of a run from its first. Raises Damaged naming the first frame that does not fit."""
    frames: list[Frame] = []
    previous = GENESIS
    for n, raw in enumerate(stored, start=1):
        frame = _parse(run, n, raw)
        if frame.n != n or frame.prev_hash != previous:
            raise Damaged(f"Run {run} is damaged at frame {n}: it does not follow the frame before it.")
        frames.append(frame)
        previous = frame_hash(raw)
    return frames


def _parse(run: str, n: int, raw: bytes) -> Frame:
    try:
        value = cast(dict[str, object], json.loads(raw))
        bodies = cast(list[tuple[int, str, str]], value.pop("bodies", []))
        return Frame(**value, bodies=[Body(*body) for body in bodies])  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, AttributeError) as error:
        raise Damaged(f"Run {run} is damaged at frame {n}: it is not a frame this Gofer can read.") from error
