"""The first hour of a new user, played by `make first-hour`: each step's words and time, and the table of them."""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from support.guides.first_hour import FirstHour, Step, WrongStep

_WIDTH = 110
"""The most characters of a line in the table."""


def _show(step: Step) -> None:
    print(f"\n{step.seconds:7.1f} s  {step.name}", flush=True)  # noqa: T201
    for line in step.words.splitlines():
        print(f"           | {line}", flush=True)  # noqa: T201


def _table(steps: Sequence[Step]) -> str:
    """Return the steps as Markdown, each with the line that tells how it went."""
    rows = ["| step | what the person reads | seconds |", "|---|---|---|"]
    for step in steps:
        line = step.line.strip()
        if len(line) > _WIDTH:
            line = f"{line[:_WIDTH]}…"
        rows.append(f"| {step.name} | {line} | {step.seconds:.1f} |")
    return "\n".join(rows)


def main() -> int:
    """Play the hour and print each step; return 1 if a step did not go as it should."""
    steps: list[Step] = []

    def tell(step: Step) -> None:
        _show(step)
        steps.append(step)

    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(FirstHour(Path(folder), tell).play())
        except (WrongStep, TimeoutError) as error:
            print(f"\nwrong: {error or 'the step took too long'}", file=sys.stderr)  # noqa: T201
            return 1
    print(f"\n{_table(steps)}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
