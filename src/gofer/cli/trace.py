"""`gofer trace RUN`: shows the steps of one run."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent

from gofer.app.operations import Operations
from gofer.cli.arguments import operations_with, place_options
from gofer.cli.terminal import print_lines
from gofer.projections.tracing.outline import outline
from gofer.projections.tracing.whole_trace import whole_trace
from gofer.projections.words.follow_ups import feedback_lines, review_line
from gofer.projections.words.steps import Step
from gofer.projections.words.transcript import harmless, transcript
from gofer.runtime.listed_record import listed_record
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_record import RunRecord

_EXAMPLES = """examples:
  gofer trace 3f2a91             what the run did, step by step, and which checks failed
  gofer trace 3f2a91 --full      the event, the prompt, each request, answer, call and result
  gofer trace 3f2a91 --full --json | jq -r '.steps[] | select(.kind == "llm.request") | .body'
                                 the exact bodies of the requests to models

The prompt is the one that the run began with. Runs from private channels are not shown.
The exit code is 1 for a damaged run, of which the part before the damage is shown.
"""

_NUMBERS = "The numbers that are left out are changes of the state, which → names at the step before."


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer trace`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--full", action="store_true", help="with all words: prompt, requests, answers, calls, results")
    parser.add_argument("--json", action="store_true", help="{run, status, steps, spans, replay} on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the trace of one run. The exit code is 1 for a damaged run."""
    with operations_with(arguments.run, arguments) as opened:
        record = asyncio.run(_record(opened, arguments.run))
    if arguments.json:
        _print_json(record, full=arguments.full)
    elif arguments.full:
        print_lines([f"run {record.run}  {record.status}", _NUMBERS, *transcript(record.steps()), *_replay(record)])
    else:
        print_lines([*_outline(record), *_replay(record)])
    if not record.damage:
        return 0
    print(f"gofer: {harmless(record.damage)}", file=sys.stderr)
    return 1


async def _record(opened: Operations, name: str) -> RunRecord:
    return await listed_record(RunReader(opened.stores, opened.clock, {}), name, OPERATOR)


def _outline(record: RunRecord) -> Sequence[str]:
    # The first span has every other status of the run.
    status = ""
    if record.status == "damaged":
        status = "damaged"
    spans = whole_trace(record.entries, record.subagents)
    follow_ups = record.progress.follow_ups
    lines = outline(record.run, spans, status=status, checks=record.failed_checks)
    lines += [f"  feedback: {harmless(line)}" for line in feedback_lines(follow_ups)]
    if review := review_line(follow_ups):
        lines.append(f"  review: {harmless(review)}")
    return lines


def _replay(record: RunRecord) -> Sequence[str]:
    if not record.replay_command:
        return ()
    return ("", f"Replay it with today's code: {record.replay_command}")


def _print_json(record: RunRecord, *, full: bool) -> None:
    """Print one JSON object, step by step, because the bodies of all requests may not fit into memory."""
    print("{")
    print(f'  "run": {json.dumps(record.run)},')
    print(f'  "status": {json.dumps(record.status)},')
    _print_list("steps", (_step_json(step, full=full) for step in record.steps()))
    print(",")
    _print_list("spans", (span.to_json() for span in whole_trace(record.entries, record.subagents)))
    if record.replay_command:
        print(f',\n  "replay": {json.dumps(record.replay_command)}', end="")
    if record.damage:
        print(f',\n  "damage": {json.dumps(record.damage)}', end="")
    print("\n}")


def _print_list(name: str, values: Iterable[Mapping[str, object]]) -> None:
    """Print one member of the object, a list, without the end of its last line."""
    print(f'  "{name}": [', end="")
    end = ""
    for value in values:
        # JSON has no line ends within a text, so each line can be indented.
        written = indent(json.dumps(value, indent=2), "    ")
        print(f"{end}\n{written}", end="")
        end = ","
    if end:
        print("\n  ", end="")
    print("]", end="")


def _step_json(step: Step, *, full: bool) -> Mapping[str, object]:
    shown = step.to_json(full=full)
    if full and step.sent is not None:
        shown["body"] = step.sent.body.decode()
        shown["is_exact"] = step.sent.is_exact
    return shown
