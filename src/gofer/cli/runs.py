"""`gofer runs`: the newest runs, and how each ended or what it waits for."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from gofer.app.operations import Operations
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.stuck import find_stuck
from gofer.journal.coordination import Head
from gofer.journal.unlisted_ends import recent
from gofer.projections.listing import row_of, unlisted_lines, why
from gofer.projections.trace import timestamp

_STUCK = "runs that do not move, with ids of private ones: no frame for 15 minutes, abandoned, not deleted in time"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer runs`."""
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
    parser.add_argument("--limit", type=number(1, 10_000), default=20, metavar="N", help="at most N runs (default 20)")
    parser.add_argument("--stuck", action="store_true", help=_STUCK)
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the newest runs that are not private, or all that are stuck."""
    if arguments.stuck:
        return _execute_stuck(arguments)
    with operations(arguments) as opened:
        heads, notes = asyncio.run(_read(opened, arguments.limit))
    for line in notes:
        print(line, file=sys.stderr)
    if arguments.json:
        print(json.dumps([row_of(head) for head in heads], indent=2))
        return 0
    for head in heads:
        print(_line(head))
    if not heads:
        print("No runs that you may see.", file=sys.stderr)
    return 0


def _execute_stuck(arguments: argparse.Namespace) -> int:
    """Print the runs that are stuck; of private ones their ids."""
    with operations(arguments) as opened:
        stuck = asyncio.run(find_stuck(opened))
    if arguments.json:
        rows = [row_of(head) for head in stuck.public]
        print(json.dumps([*rows, *({"run": run} for run in stuck.private)], indent=2))
        return 0
    for line in (*map(_line, stuck.public), *stuck.private):
        print(line)
    if not stuck.public and not stuck.private:
        print("No run is stuck.", file=sys.stderr)
    return 0


def _line(head: Head) -> str:
    return f"{head.run}  {head.status:<15} {timestamp(head.accepted_at)}  {head.workflow}  {why(head)}".rstrip()


async def _read(opened: Operations, limit: int) -> tuple[Sequence[Head], list[str]]:
    """Return the newest runs, and lines about those that no list shows or whose queue message is a dead letter."""
    notes = unlisted_lines(await recent(opened.stores.journals, int(opened.clock.now() * 1000)))
    for letter in await opened.stores.queue.buried(limit):
        head = await opened.stores.journals.head(letter.run)
        if head is None or head.status != "done":
            # Of a private run nothing but this line is shown, and not which it is.
            if head and not head.private:
                name = f"run {letter.run}"
            else:
                name = "a run that is not listed"
            at = timestamp(int(letter.at * 1000))
            notes.append(f"Dead letter at {at}: the queue message of {name}; {letter.why}.")
    return await opened.stores.journals.heads(limit), notes
