"""`gofer purge`: deletes the contents of old runs now."""

import argparse
import asyncio
import json
from dataclasses import asdict

from gofer.app.operations import Operations
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.working import Working
from gofer.runtime.retention import DAYS, Purged, Purger


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer purge`."""
    days = (
        f"delete contents of runs that finished over DAYS days ago (default {DAYS}), and of all finished private runs"
    )
    parser.add_argument("--older-than", type=number(0, 36_500), default=DAYS, metavar="DAYS", help=days)
    parser.add_argument("--json", action="store_true", help="print the same numbers of runs on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Delete the contents that are due, and print the numbers of runs."""
    with operations(arguments) as opened, Working("Deletes contents"):
        purged = asyncio.run(_purge(opened, arguments.older_than))
    if arguments.json:
        print(json.dumps(asdict(purged), indent=2))
    else:
        print(f"Runs with deleted contents: {purged.deleted}. Runs that were removed completely: {purged.forgotten}.")
        if purged.proposal:
            print(f"{purged.proposal}.")
    return 0


async def _purge(opened: Operations, days: int) -> Purged:
    return await Purger(opened.stores, opened.clock).purge(days)
