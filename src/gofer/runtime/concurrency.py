"""Work on many runs, some at a time. Receivers import this module, so it stays light."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TypeVar

AT_ONCE = 16
"""The runs that are worked on at the same time."""

Of = TypeVar("Of", bound=Hashable)
T = TypeVar("T")


async def each(work: Callable[[Of], Awaitable[T]], runs: Sequence[Of]) -> Sequence[T]:
    """Call `work` for each run or head, AT_ONCE at a time, and return the results in order.

    After an error, which is raised, no other run is begun or continued.
    """
    results: dict[Of, T] = {}
    pending = iter(runs)

    async def take_turns() -> None:
        for run in pending:
            results[run] = await work(run)

    turns = [asyncio.create_task(take_turns()) for _ in range(min(AT_ONCE, len(runs)))]
    try:
        await asyncio.gather(*turns)
    finally:
        for turn in turns:
            turn.cancel()
        await asyncio.gather(*turns, return_exceptions=True)
    return [results[run] for run in runs]
