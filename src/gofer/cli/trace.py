"""`gofer trace RUN`: shows the steps of one run."""

import argparse
import asyncio
import json
from collections.abc import Sequence

from gofer.app.operations import Operations
from gofer.cli.arguments import operations, place_options
from gofer.projections.outline import outline
from gofer.projections.trace import Span
from gofer.projections.whole_trace import whole_trace
from gofer.runtime.run_reader import OPERATOR, RunReader, listed_run
from gofer.values.errors import ConfigError


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer trace`."""
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--json", action="store_true", help="{run, spans: [...]} on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the trace of one run."""
    with operations(arguments) as opened:
        run, spans = asyncio.run(_spans(opened, arguments.run))
    if arguments.json:
        print(json.dumps({"run": run, "spans": [span.to_json() for span in spans]}, indent=2))
    else:
        print("\n".join(outline(run, spans)))
    return 0


async def _spans(opened: Operations, prefix: str) -> tuple[str, Sequence[Span]]:
    run = (await listed_run(opened.stores.journals, prefix)).run
    record = await RunReader(opened.stores, opened.clock, {}).read(run, OPERATOR)
    if record is None:
        raise ConfigError(f"Run {run} began in a private channel, so its trace is not shown.")
    return run, whole_trace(record.entries, record.subagents)
