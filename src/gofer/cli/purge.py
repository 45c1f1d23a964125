"""`gofer purge`: delete now what its time has come for."""

import argparse
import asyncio
import json
from dataclasses import asdict

from gofer.bootstrap.settings import process_settings
from gofer.bootstrap.state import State, read_state
from gofer.cli.numbers import number
from gofer.outside import SystemClock
from gofer.retention import DAYS, Purged, Purger


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer purge`."""
    days = f"contents of runs that ended more than DAYS days ago (default {DAYS}); private ones in any case"
    parser.add_argument("--older-than", type=number(0, 36_500), default=DAYS, metavar="DAYS", help=days)
    parser.add_argument("--json", action="store_true", help="{deleted, forgotten}, numbers of runs, on stdout")


def execute(arguments: argparse.Namespace) -> int:
    """Deletes what is due and says how much it was."""
    clock = SystemClock()
    with read_state(process_settings().data, clock) as state:
        purged = asyncio.run(_purge(state, clock, arguments.older_than))
    if arguments.json:
        print(json.dumps(asdict(purged), indent=2))
    else:
        print(f"Runs whose contents were deleted: {purged.deleted}. Runs of which nothing is left: {purged.forgotten}.")
    return 0


async def _purge(state: State, clock: SystemClock, days: int) -> Purged:
    return await Purger(state.store, state.blobs, clock, state.queue).purge(days)
