"""An event loop whose time is virtual: nothing waits, everything happens in an order that one seed decides.

Timers fire in order of their time; between them the clock jumps. There are no sockets and no threads, so the same seed
gives the same schedule.
"""

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

START = 1_795_262_400.0
"""Wall clock at the beginning of every simulation: 2026-11-21 12:00 UTC."""


class Stuck(Exception):
    """Nothing can ever happen any more, and the work is not done."""


class _Leap(selectors.BaseSelector):
    """A selector that never waits: it moves the clock instead."""

    def __init__(self) -> None:
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("every task waits for something that nobody will do")
        self.now += max(0.0, timeout)
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, 0, None)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop in virtual time."""

    def __init__(self) -> None:
        self._leap = _Leap()
        super().__init__(self._leap)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._leap.now


class VirtualClock:
    """The clocks of a loop in virtual time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return START + self._loop.time()

    def monotonic(self) -> float:
        return self._loop.time()


def play(loop: VirtualLoop, work: Coroutine[Any, Any, T]) -> T:
    """Runs one coroutine to its end in virtual time and drops whatever else is left."""
    try:
        return loop.run_until_complete(work)
    finally:
        # A dead machine answers nothing, not even to clean-up: what waits for it is cancelled until it gives in.
        while left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()
