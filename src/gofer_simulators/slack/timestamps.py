"""The timestamps of Slack.

A `ts` is `<seconds>.<six digits>`: the time of a message and, within its channel, its identity.
"""

import re

_TS = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?", re.ASCII)
STEP = 100
"""Microseconds between two messages of the same instant."""


def micros(ts: str) -> int | None:
    """Return microseconds since 1970, or None when this is no `ts`."""
    found = _TS.fullmatch(ts)
    if found:
        return int(found[1]) * 1_000_000 + int((found[2] or "").ljust(6, "0"))
    return None


def order(ts: str) -> int:
    """Return the key that sorts messages by time."""
    return micros(ts) or 0


def written(instant: int) -> str:
    """Return the `ts` of an instant in microseconds."""
    return f"{instant // 1_000_000}.{instant % 1_000_000:06d}"


def rounded(seconds: float) -> int:
    """Return unix seconds as microseconds, in the steps Slack's own timestamps come in."""
    return int(seconds * 1_000_000) // STEP * STEP
