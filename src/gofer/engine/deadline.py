"""The deadline of a worker: how long it may go on before it leaves a run to the next one."""

import math

from gofer.values.outside import Clock

MARGIN = 20.0
"""Seconds kept for writing down what came of the last call and for leaving in good order."""


class Deadline:
    """The time of one worker, on its own monotonic clock. Without a deadline it is endless until it is ended."""

    def __init__(self, clock: Clock, seconds: float = math.inf) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def end(self) -> None:
        """It is over: nothing new begins."""
        self._end = -math.inf

    @property
    def over(self) -> bool:
        """Whether it was ended."""
        return self._end == -math.inf

    @property
    def left(self) -> float:
        """Seconds for calls: what is left, less the margin."""
        return self._end - MARGIN - self._clock.monotonic()
