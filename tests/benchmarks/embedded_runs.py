"""Gofer as a program embeds it, in a fresh process: one run, then many at once, with a tool that answers at once.

Prints one JSON object: CPU seconds and peak MB from the start of the process to the first answer, then CPU milliseconds
for each of the runs at once, and the peak after them.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Literal

from process_use import cpu_seconds, peak_mb

from gofer.embed import Arguments, Call, Gofer, Tool, ToolResult

RESULT = "x" * 200


class Said(Arguments):
    """The argument of the tool."""

    text: str


async def look(call: Call, said: Said) -> ToolResult:
    return ToolResult(f"{said.text}: {RESULT}", "looked")


async def main(folder: Path, store: str, url: str, runs: int) -> dict[str, float]:
    place: Literal["memory"] | Path = Path(store)
    if store == "memory":
        place = "memory"
    tool = Tool("look", "Looks.", "read", Said, look)
    async with Gofer(folder, store=place, tools=[tool], model=url, settings={"OPENAI_API_KEY": "k"}) as gofer:
        first = await gofer.run("look", "please")
        assert (first.status, first.answer) == ("done", "Done."), first.reason
        found = {"first_cpu": cpu_seconds(), "first_mb": peak_mb()}
        if runs:
            before = cpu_seconds()
            ended = await asyncio.gather(*(gofer.run("look", "please") for _ in range(runs)))
            assert {run.status for run in ended} == {"done"}
            found |= {"run_ms": (cpu_seconds() - before) * 1_000 / runs, "peak_mb": peak_mb()}
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))))
