"""The largest file that Gofer takes, and what stands in a larger text where its middle was left out."""

import re

FILE_BYTES = 64_000_000
"""Bytes of one file that are fetched, kept, read or taken from an archive at most: the one number for all of them."""

IMAGE_BYTES = 20 << 20
"""Bytes of an image that is opened at most, which unpacks to many times as many."""

_MARK = b"[Gofer left out bytes "
_LEFT_OUT = re.compile(rb"\[(Gofer left out bytes [0-9,]+ to [0-9,]+ of [0-9,]+[^\]\n]{0,200}\.)\]\n")


def megabytes(size: int) -> str:
    """Return a size as people write it: `64 MB`."""
    return f"{size / 1_000_000:,.0f} MB"


def without_middle(head: bytes, tail: bytes, total: int) -> bytes:
    """Return the beginning and the end of a text in whole lines, and between them what was left out."""
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :]
    span = f"{len(head):,} to {total - len(tail):,} of {total:,}"
    said = f"[Gofer left out bytes {span}, because up to {megabytes(FILE_BYTES)} of a file are kept.]"
    return b"".join([head.removesuffix(b"\n"), b"\n", said.encode(), b"\n", tail])


def left_out(content: bytes) -> str:
    """Return the sentence on what was left out of a text; empty for a whole one."""
    at = content.find(_MARK)
    found = _LEFT_OUT.match(content, max(at, 0))
    if not found:
        return ""
    return found[1].decode()
