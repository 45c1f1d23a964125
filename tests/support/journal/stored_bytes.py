"""The stored bytes of a frame that no journal wrote."""

from gofer.journal.frames import Frame, close_frame, encode_frame
from gofer.journal.seal import Seal


def frame_bytes(frame: Frame, seal: Seal) -> bytes:
    """Return the bytes of a frame as they would be stored."""
    return close_frame(frame, encode_frame(frame), seal)
