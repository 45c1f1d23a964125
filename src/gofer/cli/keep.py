"""`gofer keep RUN`: excludes the contents of a run from deletion."""

import argparse
import asyncio

from gofer.app.operations import Operations
from gofer.cli.arguments import operations, place_options
from gofer.runtime.retention import keep
from gofer.runtime.run_reader import listed_run
from gofer.values.errors import Gone


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer keep`."""
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--no", action="store_true", help="delete the contents on schedule again")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Keep the contents of a run, or let them be deleted again."""
    with operations(arguments) as opened:
        run = asyncio.run(_keep(opened, arguments.run, wanted=not arguments.no))
    if arguments.no:
        print(f"The contents of run {run} will be deleted on schedule.")
    else:
        print(f"The contents of run {run} are kept.")
    return 0


async def _keep(opened: Operations, prefix: str, *, wanted: bool) -> str:
    head = await listed_run(opened.stores.journals, prefix)
    if not await keep(head.run, opened.stores.journals, wanted=wanted):
        raise Gone(f"The contents of run {head.run} are already deleted, so they cannot be kept.")
    return head.run
