"""The first hour of a new user, played by `make first-hour`: each step's words and time."""

import asyncio
import sys
import tempfile
from pathlib import Path

from support.guides.first_hour import FirstHour, Step, WrongStep


def _show(step: Step) -> None:
    print(f"\n{step.seconds:7.1f} s  {step.name}", flush=True)  # noqa: T201
    for line in step.words.splitlines():
        print(f"           | {line}", flush=True)  # noqa: T201


def main() -> int:
    """Play the hour and print each step; return 1 if a step did not go as it should."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(FirstHour(Path(folder), _show).play())
        except WrongStep as error:
            print(f"\nwrong: {error}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
