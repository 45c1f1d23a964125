# pyright: basic, reportMissingImports=false
"""CPU seconds of pydantic-evals for 100 cases with 5 plays each: a task that calls two tools in Python, and one check.

`test_evals.py` runs this script with the Python of `.bench`.
"""

import asyncio
import time

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains

CASES = 100
PLAYS = 5


def look(text: str) -> str:
    return f"found {text}"


async def task(asked: str) -> str:
    return look(look(asked))


def main() -> None:
    """Print the CPU seconds of 500 runs without a model."""
    cases = [
        Case(name=f"case-{number}-{play}", inputs=f"question {number}", evaluators=(Contains(f"question {number}"),))
        for number in range(CASES)
        for play in range(PLAYS)
    ]
    began = time.process_time()
    report = asyncio.run(Dataset(name="bench", cases=cases).evaluate(task, progress=False))
    assert len(report.cases) == CASES * PLAYS
    print(time.process_time() - began)


if __name__ == "__main__":
    main()
