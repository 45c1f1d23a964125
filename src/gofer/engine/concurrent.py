"""What becomes of several things that happen at once when some of them cannot go on?"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from gofer.engine.model_order import Parked
from gofer.values.errors import Cancelled, Fenced, OutOfTime, RunStopped, TemporaryError

T = TypeVar("T")
_WORST_FIRST = (asyncio.CancelledError, Fenced, Cancelled, TemporaryError, RunStopped, OutOfTime, Parked)


async def together(*parts: Awaitable[T]) -> tuple[Sequence[T], BaseException | None]:
    """What those gave that came to their end, in the order given, and the one reason why the others did not.

    All of them come to an end before it returns: nothing goes on behind the back of whoever is told.
    """
    results = await asyncio.gather(*parts, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    return [result for result in results if not isinstance(result, BaseException)], _worst(failures)


def _worst(failures: Sequence[BaseException]) -> BaseException | None:
    parked = [failure for failure in failures if isinstance(failure, Parked)]
    if failures and len(parked) == len(failures):
        return min(parked, key=lambda failure: failure.entry.until)
    return min(failures, key=_rank, default=None)


def _rank(failure: BaseException) -> int:
    """What nobody foresaw comes first."""
    return next((at for at, kind in enumerate(_WORST_FIRST) if isinstance(failure, kind)), -1)
