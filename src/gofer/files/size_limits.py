"""The largest file that Gofer takes, and the two ends that are kept of a larger text."""

from dataclasses import dataclass

from gofer.values.missing import Missing

FILE_BYTES = 64_000_000
"""Bytes of one file that are fetched, kept, read or taken from an archive at most: the one number for all of them."""

IMAGE_BYTES = 20 << 20
"""Bytes of an image that is opened at most, which unpacks to many times as many."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The beginning and the end of a larger text."""

    content: bytes
    """Both in whole lines, and between them a line for readers that says what was left out."""
    missing: Missing
    """The bytes between them. Answers over the file take what it lacks from here, never from its content."""


def megabytes(size: int) -> str:
    """Return a size as people write it: `64 MB`."""
    return f"{size / 1_000_000:,.0f} MB"


def without_middle(head: bytes, tail: bytes, total: int) -> Ends:
    """Return the beginning and the end of a text of `total` bytes."""
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :]
    span = f"bytes {len(head):,} to {total - len(tail):,} of {total:,}"
    why = f"up to {megabytes(FILE_BYTES)} of a file are kept"
    line = f"[Gofer left out {span}, because {why}.]"
    content = b"".join([head.removesuffix(b"\n"), b"\n", line.encode(), b"\n", tail])
    return Ends(content, Missing("bytes", span, why, instead="ask for a file that holds that part"))
