"""An event loop in virtual time: no call waits, and one seed decides the order of events.

Timers fire in order of their time; between them the clock jumps. There are no sockets and no threads, so the same seed
gives the same schedule.
"""

import asyncio
import gc
import heapq
import itertools
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

START = 1_795_262_400.0
"""Wall clock at the beginning of every simulation: 2026-11-21 12:00 UTC."""


class Stuck(Exception):
    """The loop has no timer and no ready callback left, but the work is not done."""


class _Due:
    """A callback that can be cancelled."""

    __slots__ = ("_at", "callback")

    def __init__(self, callback: Callable[[], object], at: float) -> None:
        self.callback: Callable[[], object] | None = callback
        self._at = at

    def cancel(self) -> None:
        self.callback = None

    def cancelled(self) -> bool:
        return self.callback is None

    def when(self) -> float:
        return self._at


class VirtualLoop(asyncio.AbstractEventLoop):
    """The part of an asyncio loop that tasks, futures and timers need, in virtual time."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = itertools.count()
        self._ready: deque[_Due] = deque()
        self._timers: list[tuple[float, int, _Due]] = []
        self._closed = False
        self._task_factory: Any = None

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Any:
        due = _Due(partial((copy_context() if context is None else context).run, callback, *args), self._now)
        self._ready.append(due)
        return due

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Any:
        due = _Due(partial((copy_context() if context is None else context).run, callback, *args), when)
        # Timers of one time fire in the order in which they were set.
        heapq.heappush(self._timers, (when, next(self._order), due))
        return due

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> "asyncio.Task[Any]":
        if self._task_factory is not None:
            return self._task_factory(self, coro, **options)
        return asyncio.Task(coro, loop=self, **options)

    def get_task_factory(self) -> Any:
        return self._task_factory

    def set_task_factory(self, factory: Any) -> None:
        self._task_factory = factory

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Log a task that was dropped unfinished or whose error was not retrieved."""
        logging.getLogger(__name__).error("%s", context["message"], exc_info=context.get("exception"))

    def run_until_complete(self, future: Any) -> Any:
        asyncio._set_running_loop(self)
        try:
            task = asyncio.ensure_future(future, loop=self)
            while not task.done():
                self._leap()
                while self._ready and not task.done():
                    if (callback := self._ready.popleft().callback) is not None:
                        callback()
        finally:
            asyncio._set_running_loop(None)
        return task.result()

    def _leap(self) -> None:
        """Advance to the next time with a timer and make all its timers due."""
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heapq.heappop(timers)
        if self._ready:
            return
        if not timers:
            raise Stuck("every task waits for something that nobody will do")
        self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            self._ready.append(heapq.heappop(timers)[2])


class VirtualClock:
    """The clocks of a loop in virtual time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return START + self._loop.time()

    def monotonic(self) -> float:
        return self._loop.time()


def play(loop: VirtualLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine to its end in virtual time and drop all other tasks."""
    # Most objects of a schedule live until its end, so that garbage collection would find little.
    gc.disable()
    try:
        return loop.run_until_complete(work)
    finally:
        # A dead machine never returns, not even to clean-up: tasks waiting for it are cancelled until they end.
        while left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        gc.enable()
