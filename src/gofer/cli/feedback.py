"""`gofer feedback`: says what a person thinks of a run, and lists the runs with feedback."""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.app.embedded.state import is_served
from gofer.app.operations import Operations, Place
from gofer.cli.arguments import chosen_place, number, operations, place_options
from gofer.cli.terminal import print_lines
from gofer.journal.feedback_entries import FeedbackGiven, FeedbackVerdict
from gofer.projections.listing import row_of
from gofer.projections.tracing.trace import timestamp
from gofer.projections.words.follow_ups import feedback_json, feedback_lines, offer
from gofer.projections.words.transcript import harmless
from gofer.runtime.feedback import OPERATOR_ID, RatedRun, give, rated_runs
from gofer.runtime.listed_record import listed_record
from gofer.runtime.retention import end_waiting
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.amounts import counted
from gofer.values.errors import BadRequest, ConfigError, Corrupt, Gone
from gofer.values.outside import random_id

_EXAMPLES = """examples:
  gofer feedback                                     runs with feedback, first the bad ones that wait for their owner
  gofer feedback 3f2a91                              what people thought of one run
  gofer feedback 3f2a91 --bad "the project was missing"
  gofer feedback 3f2a91 --good
  gofer feedback 3f2a91 --withdraw                   take back what was said at a terminal
  gofer feedback 3f2a91 --seen                       the owner has looked: delete the contents on schedule again

In a chat, people add :+1: or :-1: to an answer, or reply ":-1: the project was missing" (docs/feedback.md).
Private runs have no feedback.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer feedback`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("run", metavar="RUN", nargs="?", help="id of the run; its first characters are enough")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--good", nargs="?", const="", metavar="WORDS", help="the answer was good, and why in quotes")
    act.add_argument("--bad", nargs="?", const="", metavar="WORDS", help="the answer was bad, and why in quotes")
    act.add_argument("--withdraw", action="store_true", help="take back what was said at a terminal")
    act.add_argument("--seen", action="store_true", help="end the wait of a run with bad feedback for its owner")
    parser.add_argument(
        "--limit", type=number(1, 1_000), default=20, metavar="N", help="list at most N runs (default 20)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Give feedback, say that the owner has looked, or print feedback."""
    _check(arguments)
    with operations(arguments) as opened:
        if not arguments.run:
            return _list(asyncio.run(_rated(opened, arguments.limit)), arguments)
        record = asyncio.run(_record(opened, arguments.run))
        if arguments.seen:
            return _seen(opened, record)
        given = _given(arguments)
        if given is not None:
            return _give(opened, record, given, _who_adds(chosen_place(arguments)))
    if arguments.json:
        print(json.dumps(feedback_json(record.progress.follow_ups), indent=2))
        return 0
    lines = feedback_lines(record.progress.follow_ups)
    print_lines(map(harmless, lines or [f"There is no feedback on run {record.run}."]))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for an act without a run."""
    if not arguments.run and (arguments.seen or _given(arguments) is not None):
        raise ConfigError(
            "Name the run first, such as: gofer feedback 3f2a91 --bad. `gofer runs` lists the newest runs."
        )


def _given(arguments: argparse.Namespace) -> FeedbackGiven | None:
    """Return the feedback that the options give; None if they give none."""
    if arguments.good is not None:
        return FeedbackGiven("good", OPERATOR_ID, words=arguments.good)
    if arguments.bad is not None:
        return FeedbackGiven("bad", OPERATOR_ID, words=arguments.bad)
    if arguments.withdraw:
        return FeedbackGiven("withdrawn", OPERATOR_ID)
    return None


async def _record(opened: Operations, name: str) -> RunRecord:
    return await listed_record(RunReader(opened.stores, opened.clock, {}), name, OPERATOR)


def _who_adds(place: Place) -> str:
    """Return who adds feedback to a run, by what works at this place now."""
    if place.away:
        return "A worker on AWS adds this"
    if is_served(place.data):
        return f"The Gofer that serves {place.data} adds this"
    return f"No Gofer serves {place.data} now. The next `gofer serve` or `gofer demo` there adds this"


def _give(opened: Operations, record: RunRecord, given: FeedbackGiven, who_adds: str) -> int:
    """Give the feedback of the operator, and print what can be done with the run now."""
    try:
        asyncio.run(give(record.run, record.progress, given, opened.stores, now=opened.clock.now(), act=random_id()))
    except BadRequest as error:
        raise ConfigError(str(error)) from error
    print(f"{who_adds} to run {record.run}: {given.verdict}.")
    if command := offer(record.run, given.verdict):
        print_lines([f"Make a test of it: {command}"])
    return 0


def _seen(opened: Operations, record: RunRecord) -> int:
    if not asyncio.run(end_waiting(record.run, opened.stores.journals)):
        raise ConfigError(f"Run {record.run} does not wait for its owner; `gofer feedback` lists the runs that do.")
    print(f"The contents of run {record.run} will be deleted on schedule.")
    return 0


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run with feedback, and its journal if it can be read."""

    rated: RatedRun
    record: RunRecord | None


async def _rated(opened: Operations, limit: int) -> Sequence[_Shown]:
    reader = RunReader(opened.stores, opened.clock, {})
    rated = (await rated_runs(opened.stores.journals))[:limit]
    return [_Shown(one, await _read(reader, one.head.run)) for one in rated]


async def _read(reader: RunReader, run: str) -> RunRecord | None:
    try:
        return await reader.read(run, OPERATOR)
    except (Corrupt, Gone):
        return None


def _list(found: Sequence[_Shown], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps([_row(shown) for shown in found], indent=2))
        return 0
    print_lines(line for shown in found for line in _lines(shown))
    if not found:
        print("No run that may be listed has feedback.")
    return 0


def _row(shown: _Shown) -> Mapping[str, object]:
    facts = shown.rated.facts
    row = {**row_of(shown.rated.head), "good": facts.good, "bad": facts.bad, "waits": shown.rated.is_unseen}
    if shown.record is None:
        return {**row, "feedback": []}
    return {**row, "feedback": feedback_json(shown.record.progress.follow_ups)}


def _lines(shown: _Shown) -> Sequence[str]:
    head = shown.rated.head
    facts = shown.rated.facts
    waits = ""
    if shown.rated.is_unseen:
        waits = "  waits for its owner"
    persons = f"bad: {counted(facts.bad, 'person')}, good: {counted(facts.good, 'person')}"
    lines = [f"{head.run}  {timestamp(head.accepted_at)}  {head.workflow}  {persons}{waits}"]
    if shown.record is not None:
        lines += [f"  {harmless(line)}" for line in feedback_lines(shown.record.progress.follow_ups)]
    verdict: FeedbackVerdict = "good"
    if facts.bad:
        verdict = "bad"
    return [*lines, f"  {offer(head.run, verdict)}"]
