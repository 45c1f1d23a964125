"""`gofer cancel RUN`: stops a run from a terminal."""

import argparse
import asyncio
import sys

from gofer.app.operations import Operations
from gofer.cli.arguments import operations, place_options
from gofer.journal.entries import RunCancelled
from gofer.runtime.cancel import cancel
from gofer.runtime.run_reader import listed_run
from gofer.values.outside import random_id


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer cancel`."""
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument(
        "--by",
        default="the person who runs Gofer",
        metavar="NAME",
        help="the name that the notice in the conversation gives",
    )
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Cancel the run. It finishes its current step and starts no other."""
    with operations(arguments) as opened:
        run, asked = asyncio.run(_cancel(opened, arguments.run, arguments.by))
    if not asked:
        print(f"Run {run} has ended; there is nothing to cancel.", file=sys.stderr)
        return 1
    print(f"Run {run} stops before its next step.", file=sys.stderr)
    return 0


async def _cancel(opened: Operations, prefix: str, by: str) -> tuple[str, bool]:
    # A person who has the complete id of an unlisted run already knows about it.
    head = await opened.stores.journals.head(prefix) or await listed_run(opened.stores.journals, prefix)
    return head.run, await cancel(head.run, RunCancelled(by), opened.stores.journals, opened.stores.queue, random_id())
