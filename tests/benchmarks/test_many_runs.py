"""The cost of many runs at once in one worker process, and of each run when there are more of them.

Five calls of a model that takes 200 ms for each, so that a second is the least any run can take.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from test_harness import model_server

ROUNDS = 5
RUNS = (50, 100, 200)
CALLS = 5
SECONDS = 0.2
SCRIPT = Path(__file__).with_name("many_runs.py")

Found = dict[str, float]


def in_a_process(runs: int, url: str, folder: Path, mode: str) -> Found:
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": f"{SCRIPT.parent}:{SCRIPT.parents[1]}"}
    command = [sys.executable, str(SCRIPT), str(runs), url, str(folder), mode]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def test_time_cpu_and_memory_of_many_runs_at_once(tmp_path: Path) -> None:
    timed: dict[int, list[Found]] = {runs: [] for runs in RUNS}
    counted: dict[int, Found] = {}

    async def play() -> None:
        async with model_server(CALLS - 1, SECONDS) as url:
            for runs in RUNS:
                counted[runs] = in_a_process(runs, url, tmp_path / f"count{runs}", "count")
            for turn in range(ROUNDS):
                for runs in RUNS:
                    timed[runs].append(in_a_process(runs, url, tmp_path / f"{turn}-{runs}", "time"))

    asyncio.run(play())
    least = CALLS * SECONDS
    print(
        f"\nruns at once in one process on SQLite, {CALLS} model calls of {SECONDS * 1000:.0f} ms, median of {ROUNDS}"
    )
    for runs, found in timed.items():
        wall, cpu = (median(one[name] for one in found) for name in ("wall", "cpu"))
        before, peak = (median(one[name] for one in found) for name in ("before", "peak"))
        print(
            f"  {runs:3} runs: {wall:5.2f} s ({least:.1f} at least)  {runs / wall:4.0f} runs/s"
            f"  {cpu * 1000 / runs:5.1f} ms CPU a run  peak {peak:5.1f} MB ({before:.1f} before the first)"
            f"  {counted[runs]['written'] / runs:5.2f} transactions a run"
        )
    each = {runs: median(one["cpu"] for one in found) / runs for runs, found in timed.items()}
    print(f"  CPU of a run among {RUNS[-1]} to one among {RUNS[0]}: {each[RUNS[-1]] / each[RUNS[0]]:.2f}")
