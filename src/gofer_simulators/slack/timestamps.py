"""Slack's timestamps.

A `ts` is `<seconds>.<six digits>`. It is the time of a message, and identifies the message within its channel.
"""

import re

_TS = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?", re.ASCII)
STEP = 100
"""Smallest difference between the timestamps of two messages, in microseconds."""


def micros(ts: str) -> int | None:
    """Return the microseconds since 1970 of a `ts`, or None for a text that is no `ts`."""
    found = _TS.fullmatch(ts)
    if found:
        return int(found[1]) * 1_000_000 + int((found[2] or "").ljust(6, "0"))
    return None


def order(ts: str) -> int:
    """Return the key that sorts messages by time: microseconds since 1970, 0 for a text that is no `ts`."""
    return micros(ts) or 0


def written(instant: int) -> str:
    """Return the `ts` of a time in microseconds since 1970."""
    return f"{instant // 1_000_000}.{instant % 1_000_000:06d}"


def rounded(seconds: float) -> int:
    """Return Unix seconds as microseconds, rounded down to a multiple of `STEP`."""
    return int(seconds * 1_000_000) // STEP * STEP
