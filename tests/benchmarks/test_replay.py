"""The time of replaying a run of 20 calls, beside the run itself, printed. Nothing here asserts a time."""

import asyncio
import statistics
import time

from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.workflows.schema import Limits
from support.engine.memory_run import says
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker

CALLS = 20
ROUNDS = 15


async def played() -> tuple[MemoryWorker, float]:
    """Return a worker after one run of 20 calls, and the milliseconds of the run."""
    reads = [says("", ("slack_read_thread", {"ts": f"{number}.0"})) for number in range(CALLS)]
    made = memory_worker(*reads, says("Hello."))
    made.grant("slack_read_thread", limits=Limits(llm_calls=100, tool_calls=100, tokens=10**9, minutes=60, usd=1e6))
    await made.accept("run1", private=False)
    begin = time.perf_counter()
    await made.work_once()
    return made, (time.perf_counter() - begin) * 1_000


async def measured() -> tuple[float, list[float], Replay, RecordedRun]:
    made, bare = await played()
    recorded = await recorded_by(made)
    took: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        again = await replayed(made, recorded)
        took.append((time.perf_counter() - begin) * 1_000)
    return bare, took, again, recorded


def test_run_of_twenty_calls_is_replayed() -> None:
    bare, took, again, recorded = asyncio.run(measured())
    assert again.outcome == "identical"
    calls = len(recorded.calls)
    median = statistics.median(took)
    print(f"\nreplay of a run with {calls} calls: {median:.1f} ms, {median / bare:.2f} of the run ({bare:.1f} ms)")
