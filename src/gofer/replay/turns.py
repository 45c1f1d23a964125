"""The order of parallel branches during a replay: each waits until the recording comes to its step."""

import asyncio
from collections.abc import Callable

from gofer.replay.replay_progress import ReplayProgress

_IDLE = 25
"""Turns of the event loop without progress after which the branches wait for each other for ever."""


async def wait_for(progress: ReplayProgress, is_due: Callable[[], bool], idle_turns: int = _IDLE) -> None:
    """Wait until a step is due, or until no other branch makes progress."""
    idle = 0
    seen = progress.repeated
    while not is_due() and idle < idle_turns:
        await asyncio.sleep(0)
        idle += 1
        if progress.repeated != seen:
            seen = progress.repeated
            idle = 0


async def settle(progress: ReplayProgress) -> None:
    """Wait until no other branch makes progress."""
    await wait_for(progress, lambda: False)


async def settle_last(progress: ReplayProgress) -> None:
    """Wait until no other branch makes progress, also none that waits in `wait_for`."""
    await wait_for(progress, lambda: False, 4 * _IDLE)
