"""The time of comparing two runs of 50 calls, and of their waste, printed. Nothing here asserts a time."""

import asyncio
import statistics
import time
from collections.abc import Callable

from gofer.projections.comparison.diff_text import diff_lines
from gofer.projections.comparison.run_diff import run_diff
from gofer.projections.examination.waste import waste
from gofer.projections.prompted_run import PromptedRun
from gofer.tools.definition import Call, ToolResult
from gofer.workflows.schema import Limits
from support.engine.memory_run import MemoryRun, Said, memory_run, says
from support.engine.prompted_runs import prompted

CALLS = 50
ROUNDS = 15
TEXT = " ".join(f"Line {number} of the log says that step {number * 7} took {number} ms.\n" for number in range(40))
"""The text of a result: about 2,000 bytes."""


def looking(last: str) -> MemoryRun:
    """Return a run of 50 calls whose last call asks for something of its own."""
    asked = [str(number) for number in range(CALLS - 1)] + [last]
    made = memory_run(*(says(f"Look at {text}.", ("look", {"text": text})) for text in asked), says("done"))
    made.limits = Limits(llm_calls=1_000, tool_calls=1_000, tokens=10**9, minutes=60, usd=1e6)

    async def look(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"{said.text}: {TEXT}", "looked")

    made.tool("look", "read", look)
    return made


async def ran(last: str) -> PromptedRun:
    made = looking(last)
    await made.run()
    return await prompted(made)


def milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds of the first time, and the median of the others."""
    took: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        took.append((time.perf_counter() - begin) * 1_000)
    return took[0], statistics.median(took[1:])


def test_two_runs_of_fifty_calls_are_compared() -> None:
    first, second, same = (asyncio.run(ran(last)) for last in ("left", "right", "left"))
    assert run_diff(first, same).is_equal
    diff = run_diff(first, second)
    assert diff.first is not None
    for name, work in {
        "diff of two runs of 50 calls that differ in the last": lambda: list(diff_lines(run_diff(first, second))),
        "diff of two equal runs of 50 calls": lambda: list(diff_lines(run_diff(first, same))),
        "waste of a run of 50 calls": lambda: waste(first),
    }.items():
        fresh, again = milliseconds(work)
        print(f"\n{name}: {fresh:.1f} ms the first time, {again:.1f} ms again (target of a diff: 100 ms)")
