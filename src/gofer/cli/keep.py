"""`gofer keep RUN`: keep the contents of a run when its time has come."""

import argparse
import asyncio

from gofer.bootstrap.settings import process_settings
from gofer.bootstrap.state import State, read_state
from gofer.cli.listed import listed
from gofer.errors import Gone
from gofer.outside import SystemClock
from gofer.retention import keep


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer keep`."""
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--no", action="store_true", help="keep it no longer")


def execute(arguments: argparse.Namespace) -> int:
    """Keeps a run, or keeps it no longer."""
    with read_state(process_settings().data, SystemClock()) as state:
        run = asyncio.run(_keep(state, arguments.run, wanted=not arguments.no))
    print(f"Run {run} is deleted in its time." if arguments.no else f"Run {run} is kept.")
    return 0


async def _keep(state: State, prefix: str, *, wanted: bool) -> str:
    head = await listed(state.store, prefix)
    if not await keep(head.run, state.store, wanted=wanted):
        raise Gone(f"The contents of run {head.run} were deleted; nothing is left to keep.")
    return head.run
