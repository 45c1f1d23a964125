"""The size limit of files, and the two ends of a larger text."""

from dataclasses import dataclass

from gofer.values.missing import Missing

FILE_BYTES = 64_000_000
"""The most bytes of one file that Gofer fetches, stores, reads or extracts from an archive."""

IMAGE_BYTES = 20 << 20
"""The most bytes of an image that Gofer opens. It decompresses to many times its size."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The beginning and the end of a larger text."""

    content: bytes
    """Both ends in whole lines, with a line between them that says what was left out."""
    missing: Missing
    """The bytes between the ends. Answers take the gap from here, never from the line in `content`."""


def megabytes(size: int) -> str:
    """Return a size as people write it: `64 MB`."""
    return f"{size / 1_000_000:,.0f} MB"


def without_middle(head: bytes, tail: bytes, total: int) -> Ends:
    """Return the beginning and the end of a text of `total` bytes."""
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :]
    span = f"bytes {len(head):,} to {total - len(tail):,} of {total:,}"
    reason = f"up to {megabytes(FILE_BYTES)} of a file are kept"
    gap_line = f"[Gofer left out {span}, because {reason}.]"
    content = b"".join([head.removesuffix(b"\n"), b"\n", gap_line.encode(), b"\n", tail])
    return Ends(content, Missing("bytes", span, reason, instead="ask for a file that holds that part"))
