"""The steps of a piece of work: the lines of Python that it runs, a number that a busy machine does not change."""

import sys
from collections.abc import Callable
from types import FrameType


def steps(work: Callable[[], object]) -> int:
    """Return how many lines and calls of Python a piece of work runs. What it computes in C does not count."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: object) -> object:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        work()
    finally:
        sys.settrace(before)
    return count
