"""`gofer stats`: what runs did, cost and needed, in total and by workflow, person, week, tool, skill or prompt."""

import argparse
import asyncio
import json
from collections.abc import Mapping
from typing import get_args

from gofer.app.operations import Operations
from gofer.cli.arguments import operations, place_options
from gofer.cli.stats_report import lines, to_json
from gofer.cli.terminal import print_lines
from gofer.cli.times import moment
from gofer.cli.working import Working
from gofer.runtime.run_origins import Origin
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.statistics import MOST_READ, By, Statistics, statistics

MOST_PEOPLE = 50
"""The most people whose names are read, the ones with the most runs first."""
_EXAMPLES = """examples:
  gofer stats                          the last 30 days, by workflow
  gofer stats --since 7d --by person   who asked, with names
  gofer stats --since 2026-11-01 --by week --json
  gofer stats --by prompt              by version of a prompt; only reviewed runs know theirs
  gofer stats --by tool --stage prod   on AWS

Heads of runs are kept for 30 days, so an earlier --since shows no more. Private runs enter no statistic.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer stats`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--since",
        default="30d",
        metavar="WHEN",
        help="runs that began since then: 90m, 24h, 7d, or a date in UTC (default 30d)",
    )
    parser.add_argument("--by", choices=get_args(By), default="workflow", help="the groups (default workflow)")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the statistics of the runs that are not private."""
    with operations(arguments) as opened, Working("Counts the runs"):
        found, skipped, people = asyncio.run(_read(opened, arguments))
    if arguments.json:
        print(json.dumps(to_json(found, skipped, people), indent=2))
    else:
        print_lines(lines(found, skipped, people))
    return 0


async def _read(opened: Operations, arguments: argparse.Namespace) -> tuple[Statistics, int, Mapping[str, Origin]]:
    """Return the statistics, the number of runs that were not read, and the people by their tokens."""
    now = opened.clock.now()
    since = moment(arguments.since, now)
    reader = RunReader(opened.stores, opened.clock, {})
    readings = RunReadings(reader, OPERATOR, MOST_READ)
    found = await statistics(readings, int(since * 1000), int(now * 1000), arguments.by)
    people: Mapping[str, Origin] = {}
    if found.by == "person":
        people = await _people(found, RunReadings(reader, OPERATOR, MOST_PEOPLE))
    return found, len(readings.skipped), people


async def _people(found: Statistics, readings: RunReadings) -> Mapping[str, Origin]:
    """Return the people with the most runs by their tokens, each as the newest run knows them."""
    busiest = sorted(found.groups, key=lambda token: -found.groups[token].runs)[:MOST_PEOPLE]
    origins = {token: await readings.person(found.newest[token]) for token in busiest}
    return {token: origin for token, origin in origins.items() if origin is not None}
