"""`gofer health RUN`: shows on one screen whether a run was well, with names and counts only."""

import argparse
import asyncio
import json

from gofer.app.operations import Operations
from gofer.cli.arguments import operations_with, place_options
from gofer.cli.terminal import print_lines
from gofer.projections.examination.anomalies import anomalies
from gofer.projections.examination.health import Health, health
from gofer.projections.examination.health_text import health_json, health_lines
from gofer.runtime.baseline import baseline, traits_of
from gofer.runtime.listed_record import listed_record
from gofer.runtime.prompted_runs import prompted_run
from gofer.runtime.run_reader import OPERATOR, RunReader

_EXAMPLES = """\
examples:
  gofer health 4e01           checks, states, context, waste, and what is unusual for its workflow
  gofer health 4e01 --json    the same as JSON

The output has names and counts, and no contents; `gofer trace RUN --full` has the words.
Exit codes: 0 no check failed as an error, 1 one did or the run is damaged, 2 there is no such run.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer health`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the health of one run."""
    with operations_with(arguments.run, arguments) as opened:
        found = asyncio.run(_health(opened, arguments.run))
    if arguments.json:
        print(json.dumps(health_json(found), indent=2))
    else:
        print_lines(health_lines(found))
    return int(not found.is_healthy)


async def _health(opened: Operations, name: str) -> Health:
    runs = RunReader(opened.stores, opened.clock, {})
    record = await listed_record(runs, name, OPERATOR)
    earlier = await baseline(runs, OPERATOR, record.progress.workflow, without=record.run)
    own = traits_of(record)
    return health(prompted_run(record), anomalies(own, earlier), [own, *earlier])
