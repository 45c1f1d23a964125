"""Work on many runs: some at a time, results in order, and an error that ends the rest."""

import asyncio

import pytest

from gofer.runtime.concurrency import AT_ONCE, each
from gofer.values.errors import TemporaryError

pytestmark = pytest.mark.anyio
RUNS = [f"r{number}" for number in range(3 * AT_ONCE)]


async def test_results_have_the_order_of_the_runs() -> None:
    async def work(run: str) -> str:
        # Later runs end earlier.
        for _ in range(len(RUNS) - RUNS.index(run)):
            await asyncio.sleep(0)
        return run.upper()

    assert await each(work, RUNS) == [run.upper() for run in RUNS]
    assert await each(work, []) == []


async def test_error_ends_the_work_on_other_runs() -> None:
    begun: list[str] = []
    ended: list[str] = []

    async def work(run: str) -> None:
        begun.append(run)
        await asyncio.sleep(0)
        if run == "r0":
            raise TemporaryError("no answer")
        await asyncio.Event().wait()
        ended.append(run)

    with pytest.raises(TemporaryError, match="no answer"):
        await each(work, RUNS)
    assert begun == RUNS[:AT_ONCE]
    assert ended == []
