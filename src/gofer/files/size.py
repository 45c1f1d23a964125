"""The largest file that Gofer takes: the one number for what is fetched, kept, read and taken from an archive."""

FILE_BYTES = 64_000_000
"""Bytes of one file at most."""


def megabytes(size: int) -> str:
    """Return a size as people write it: `64 MB`."""
    return f"{size / 1_000_000:,.0f} MB"
