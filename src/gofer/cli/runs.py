"""`gofer runs`: which runs were there lately, and how did they end?"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from gofer.bootstrap.settings import process_settings
from gofer.bootstrap.state import State, read_state
from gofer.cli.numbers import number
from gofer.journal.coordination import Head
from gofer.outside import SystemClock
from gofer.projections.trace import timestamp


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer runs`."""
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
    parser.add_argument("--limit", type=number(1, 10_000), default=20, metavar="N", help="at most N runs (default 20)")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the newest runs that are not private."""
    with read_state(process_settings().data, SystemClock()) as state:
        heads, dead = asyncio.run(_read(state, arguments.limit))
    for line in dead:
        print(line, file=sys.stderr)
    if arguments.json:
        print(json.dumps([_line(head) for head in heads], indent=2))
        return 0
    for head in heads:
        print(f"{head.run}  {head.status:<15} {timestamp(head.accepted_at)}  {head.workflow}  {head.reason}".rstrip())
    if not heads:
        print("No runs that you may see.", file=sys.stderr)
    return 0


async def _read(state: State, limit: int) -> tuple[Sequence[Head], list[str]]:
    """The newest runs, and one line for each doorbell that was given up although its run has not ended well."""
    dead: list[str] = []
    for letter in await state.queue.buried(limit):
        head = await state.store.head(letter.run)
        if head is None or head.status != "done":
            # Of a private run nothing but this line is shown, and not which it is.
            name = f"run {letter.run}" if head and not head.private else "a run that is not listed"
            dead.append(f"Given up at {timestamp(int(letter.at * 1000))}: the doorbell of {name}; {letter.why}.")
    return await state.store.heads(limit), dead


def _line(head: Head) -> dict[str, object]:
    return {
        "run": head.run,
        "workflow": head.workflow,
        "status": head.status,
        "reason": head.reason,
        "accepted_at": timestamp(head.accepted_at),
        "updated_at": timestamp(head.updated_at),
        "retention": head.retention,
    }
