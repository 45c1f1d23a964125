"""The supervisor of the long-lived parts of a process: it reports a part that fails, and begins it again."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.values.errors import fault
from gofer.values.outside import Clock

SHORTEST = 1.0
"""Seconds until a part that failed begins again. Each further failure doubles them, up to LONGEST."""
LONGEST = 60.0
"""The longest pause in seconds. A part that worked for so long has recovered."""
LATELY = 300.0
"""Seconds for which a failure is shown."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Supervisor:
    """The supervisor of one process. It also knows which parts failed lately."""

    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _failed: dict[str, float] = field(default_factory=dict[str, float])
    """When each part failed last, by the monotonic clock."""

    @contextlib.asynccontextmanager
    async def serving(self, parts: Mapping[str, Callable[[], Awaitable[None]]]) -> AsyncGenerator[None]:
        """Serve parts while the block runs, each by its name for people. Then cancel them and wait for their ends."""
        tasks = [asyncio.create_task(self._keep(part, serve)) for part, serve in parts.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def failed_lately(self) -> Sequence[str]:
        """Return the names of the parts that failed within the last LATELY seconds."""
        now = self.clock.monotonic()
        return [part for part, at in self._failed.items() if now - at < LATELY]

    async def _keep(self, part: str, serve: Callable[[], Awaitable[None]]) -> None:
        """Serve a part until cancelled, however often it fails."""
        pause = SHORTEST
        while True:
            began = self.clock.monotonic()
            cause = await _end(serve)
            self._failed[part] = self.clock.monotonic()
            if self._failed[part] - began >= LONGEST:
                pause = SHORTEST
            # A lack of memory may last until the line is written.
            with contextlib.suppress(MemoryError):
                _log.error("the %s failed (%s), and begins again in %g s", part, cause, pause)
            await self.sleep(pause)
            pause = min(2 * pause, LONGEST)


async def _end(serve: Callable[[], Awaitable[None]]) -> str:
    """Serve a part until it fails or ends, and return the cause. Raises CancelledError if this task is cancelled."""
    try:
        await serve()
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # A part that awaits a cancelled task of its own fails like any other.
        return fault(error)
    except Exception as error:  # noqa: BLE001
        return fault(error)
    return "it ended"
