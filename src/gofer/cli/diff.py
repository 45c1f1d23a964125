"""`gofer diff A B`: shows where two runs part, how their prompts differ there, and what followed."""

import argparse
import asyncio
import json

from gofer.app.operations import Operations
from gofer.cli.arguments import operations_with, place_options
from gofer.cli.terminal import print_lines
from gofer.projections.comparison.diff_text import diff_json, diff_lines
from gofer.projections.comparison.run_diff import RunDiff, run_diff
from gofer.runtime.listed_record import listed_record
from gofer.runtime.prompted_runs import prompted_run
from gofer.runtime.run_reader import OPERATOR, RunReader

_EXAMPLES = """\
examples:
  gofer diff 4e01 77aa           the first difference, the prompt before it by role, and what followed
  gofer diff 4e01 77aa --json    the same as JSON

Times, durations, token counts, owners and generated ids do not count as differences.
Exit codes: 0 the runs are equal, 1 they differ or one is damaged, 2 there is no such run.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer diff`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("first", metavar="A", help="id of a run; its first characters are enough")
    parser.add_argument("second", metavar="B", help="id of the run that is compared with it")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the difference of two runs."""
    with operations_with(arguments.first, arguments) as opened:
        diff = asyncio.run(_diff(opened, arguments.first, arguments.second))
    if arguments.json:
        print(json.dumps(diff_json(diff), indent=2))
    else:
        print_lines(diff_lines(diff))
    return int(not diff.is_equal)


async def _diff(opened: Operations, first: str, second: str) -> RunDiff:
    runs = RunReader(opened.stores, opened.clock, {})
    read = [await listed_record(runs, name, OPERATOR) for name in (first, second)]
    one, two = map(prompted_run, read)
    return run_diff(one, two)
