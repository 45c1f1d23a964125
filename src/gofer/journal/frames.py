"""What is a frame, and how do its bytes chain to the one before?

A frame is `{n, at, owner, nonce, prev_hash, entries, sum}` in canonical JSON, plus `bodies` when values were spilled.
`prev_hash` covers the stored bytes before, so any loss or reordering of frames breaks the chain; `sum` covers the run
and the frame's own bytes, so that a change in the last frame, which no other names yet, is noticed too.
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
_SUM_LENGTH = len(b',"sum":""}') + 64


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


def frame_bytes(run: str, frame: Frame) -> bytes:
    """The canonical bytes of a frame of a run, as every store keeps them."""
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
    return _with_sum(run, encode(value))


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
            raise Damaged(f"Run {run} is damaged at frame {n}: it does not follow the one before it; restore them.")
        frames.append(frame)
        previous = frame_hash(raw)
    return frames


def _with_sum(run: str, content: bytes) -> bytes:
    # The last key in canonical order, so that it can be put on and checked without encoding anything twice.
    digest = hashlib.sha256(run.encode() + b"\n" + content).hexdigest()
    return content[:-1] + f',"sum":"{digest}"}}'.encode()


def _parse(run: str, n: int, raw: bytes) -> Frame:
    content = raw[:-_SUM_LENGTH] + b"}"
    if raw != _with_sum(run, content):
        raise Damaged(f"Run {run} is damaged at frame {n}: its bytes are not those that were written; restore them.")
    try:
        value = cast(dict[str, object], json.loads(content))
        bodies = cast(list[tuple[int, str, str]], value.pop("bodies", []))
        return Frame(**value, bodies=[Body(*body) for body in bodies])  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, AttributeError) as error:
        raise Damaged(f"Run {run} is damaged at frame {n}: it is not a frame this Gofer can read.") from error
