"""The filters of `gofer runs`: the options, the search, and the found runs as lines and as JSON."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import get_args

from gofer.app.operations import Operations
from gofer.cli.arguments import nonempty
from gofer.cli.times import moment, time_of_day
from gofer.journal.coordination import HeadStatus
from gofer.journal.entries import Status
from gofer.projections.checks.check_settings import CHECKS
from gofer.projections.listing import row_of, why
from gofer.projections.progress import Progress
from gofer.projections.tracing.trace import timestamp
from gofer.projections.words.transcript import harmless
from gofer.runtime.exchanges import Exchange, exchange_of
from gofer.runtime.run_origins import Origin
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.run_search import MOST_CANDIDATES, MOST_READ, Found, FoundRun, Wanted, search

_HALF_HOUR_MS = 1_800_000
_LONGEST_TEXT = 4_000
"""The most characters of a question or an answer that a conversation shows."""
_STATUSES: tuple[HeadStatus, ...] = ("queued", "running", "parked", *get_args(Status))
_FILTERS = ("workflow", "status", "person", "channel", "tool", "skill", "check", "feedback", "not_effective", "text")
EXAMPLES = """examples:
  gofer runs --around 14:00 --channel '#payments'    the runs half an hour before and after two o'clock, nearest first
  gofer runs --around 'yesterday 9:30' --conversations
                                                     who asked what then, and what Gofer answered
  gofer runs --person @ada --since 7d                the runs that Ada started
  gofer runs --check no-tool-loops --json            the runs that failed a check
  gofer runs --feedback bad --since 7d               the runs that people were not content with
  gofer runs --text "refund 4711"                    the runs with both words, anywhere in their texts
  gofer runs --tool file_read --status failed

--around takes 14:00 (the last such time), yesterday 14:00 or 2026-11-23T14:00, in the time zone of this terminal.
Each filter narrows the list, and works with --json. docs/find-a-run.md has more.
"""


def filter_options(parser: argparse.ArgumentParser) -> None:
    """Declare the filters."""
    parser.epilog = EXAMPLES
    time = parser.add_mutually_exclusive_group()
    time.add_argument("--around", metavar="TIME", help="runs within half an hour of a time, the nearest first")
    time.add_argument("--since", metavar="WHEN", help="runs that began since then: 90m, 24h, 7d, or a date in UTC")
    parser.add_argument("--workflow", type=nonempty, metavar="NAME", help="runs of a workflow")
    parser.add_argument("--status", choices=_STATUSES, help="runs with this status")
    parser.add_argument("--channel", type=nonempty, metavar="C", help="runs of a channel, by id or #name")
    parser.add_argument("--person", type=nonempty, metavar="P", help="runs of a person, by id or name")
    parser.add_argument("--tool", type=nonempty, metavar="T", help="runs that called a tool")
    parser.add_argument("--skill", type=nonempty, metavar="S", help="runs that loaded a skill")
    parser.add_argument(
        "--check", choices=CHECKS, metavar="NAME", help=f"runs that failed a check: {', '.join(CHECKS)}"
    )
    parser.add_argument("--feedback", choices=("good", "bad", "any"), help="runs with this feedback of a person")
    parser.add_argument(
        "--not-effective",
        action="store_const",
        const=True,
        help="runs of which the review says that they did not do what they were asked for",
    )
    parser.add_argument("--text", type=nonempty, metavar="WORDS", help="runs whose texts hold all these words")
    parser.add_argument(
        "--conversations", action="store_true", help="print questions and answers in order, by conversation"
    )


def is_filtered(arguments: argparse.Namespace) -> bool:
    """Return whether the options search for runs, instead of listing the newest."""
    times = (arguments.around, arguments.since)
    named = (getattr(arguments, name) for name in _FILTERS)
    return arguments.conversations or any(value is not None for value in (*times, *named))


async def find(opened: Operations, arguments: argparse.Namespace) -> tuple[Wanted, Found]:
    """Return the conditions of a search and its result. Raises ConfigError for an unreadable time, TemporaryError."""
    wanted = _wanted(arguments, opened.clock.now())
    runs = RunReader(opened.stores, opened.clock, {})
    return wanted, await search(wanted, RunReadings(runs, OPERATOR, MOST_READ), arguments.limit)


def _wanted(arguments: argparse.Namespace, now: float) -> Wanted:
    since = 0
    until = int(now * 1000)
    around = None
    if arguments.around is not None:
        around = int(time_of_day(arguments.around, now) * 1000)
        since = around - _HALF_HOUR_MS
        until = around + _HALF_HOUR_MS
    if arguments.since is not None:
        since = int(moment(arguments.since, now) * 1000)
    named = {name: value for name in _FILTERS if (value := getattr(arguments, name)) is not None}
    return Wanted(since=max(0, since), until=until, around=around, **named)


def notes(wanted: Wanted, found: Found) -> Sequence[str]:
    """Return what a reader must know about a search: its time, and how much it could not check."""
    told: list[str] = []
    if wanted.around is not None:
        told.append(f"Runs from {_both_times(wanted.since)} to {_both_times(wanted.until)}.")
    if wanted.text:
        whole = found.searched - found.unread - found.damaged
        told.append(f"Runs whose texts were searched: {whole:,} of {found.candidates:,}.")
        if found.damaged:
            told.append(f"Runs that are damaged or deleted, and not searched to their end: {found.damaged:,}.")
    elif found.unread:
        told.append(f"Runs that were not checked: {found.unread:,}. Narrow the search, such as with --around.")
    if found.candidates == MOST_CANDIDATES:
        told.append(f"Only the nearest {MOST_CANDIDATES:,} runs were considered.")
    if not found.runs:
        told.append("No run that may be listed meets all conditions.")
    return told


def _both_times(at: int) -> str:
    """Return a time in the time zone of this machine and, if that is another one, in UTC."""
    utc = datetime.fromtimestamp(at / 1000, UTC)
    local = utc.astimezone()
    if not local.utcoffset():
        return f"{utc:%Y-%m-%d %H:%M} UTC"
    return f"{local:%Y-%m-%d %H:%M %Z} ({utc:%H:%M} UTC)"


def rows(found: Found) -> Sequence[Mapping[str, object]]:
    """Return the found runs as JSON."""
    return [_row(run) for run in found.runs]


def lines(found: Found) -> Sequence[str]:
    """Return one line for each found run."""
    return [_line(run) for run in found.runs]


def conversation_rows(found: Found) -> Sequence[Mapping[str, object]]:
    """Return the found conversations as JSON, each with its runs in order."""
    return [
        {"conversation": number, "runs": [{**_row(run), **_words(run)} for run in runs]}
        for number, runs in enumerate(_conversations(found), 1)
    ]


def conversation_lines(found: Found) -> Sequence[str]:
    """Return the found conversations as lines: each question with its answer, in order."""
    shown: list[str] = []
    for runs in _conversations(found):
        place = ""
        if (origin := runs[0].origin) and origin.channel:
            place = f" in {origin.channel_shown}"
        shown += [f"{timestamp(runs[0].head.accepted_at)}  a conversation{place}, runs: {len(runs)}"]
        for run in runs:
            shown += _conversation_lines(run)
        shown.append("")
    return shown


def _conversations(found: Found) -> Sequence[Sequence[FoundRun]]:
    """Return the found runs by conversation: conversations in the order of their first runs, runs in order."""
    grouped: dict[str, list[FoundRun]] = {}
    for run in sorted(found.runs, key=lambda run: (run.head.accepted_at, run.head.run)):
        grouped.setdefault(run.head.conversation, []).append(run)
    return list(grouped.values())


def _row(run: FoundRun) -> Mapping[str, object]:
    origin = run.origin or Origin()
    return {
        **row_of(run.head),
        "person": {"id": origin.person, "name": origin.name},
        "channel": {"id": origin.channel, "name": origin.channel_name},
    }


def _line(run: FoundRun) -> str:
    head = run.head
    origin = run.origin or Origin()
    where = "  ".join(filter(None, [origin.channel_shown, origin.person_shown]))
    told = f"{head.run}  {head.status:<15} {timestamp(head.accepted_at)}  {head.workflow}  {where}  {why(head)}"
    return told.rstrip()


def _words(run: FoundRun) -> Mapping[str, object]:
    """Return the question and the answer of a run; empty texts if its contents were deleted."""
    said = _exchange(run)
    return {
        "author": said.author or (run.origin or Origin()).name,
        "question": _shortened(said.question),
        "answer": _shortened(said.answer),
        "conclusion_not_posted": _shortened(said.conclusion),
        "damage": run.damage,
    }


def _exchange(run: FoundRun) -> Exchange:
    if run.record is None:
        return Exchange()
    return exchange_of(run.record.progress)


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… ({len(text):,} characters)"


def _conversation_lines(run: FoundRun) -> Iterator[str]:
    head = run.head
    origin = run.origin or Origin()
    yield f"  {timestamp(head.accepted_at)}  {head.run}  {head.workflow}  {head.status}  {why(head)}".rstrip()
    if run.record is not None:
        yield from _exchange_lines(_exchange(run), origin, run.record.progress)
    if run.damage:
        yield from _quoted(f"The run cannot be read further: {run.damage}")


def _exchange_lines(said: Exchange, origin: Origin, progress: Progress) -> Iterator[str]:
    """Yield who started a run if another person wrote the question, then the question and the answer."""
    by = origin.person_shown or "no person"
    if said.author and said.author not in (origin.name, origin.handle):
        if origin.person_shown:
            yield from _quoted(f"started by {by}")
        by = said.author
    yield from _quoted(f"{by}: {_shortened(said.question)}")
    if said.is_repetition:
        yield from _quoted("Gofer told the person alone that an earlier run had done this.")
    if said.conclusion:
        yield from _quoted(f"conclusion, not posted: {_shortened(said.conclusion)}")
    elif said.answer or progress.finished is None:
        yield from _quoted(f"Gofer: {_shortened(said.answer) or '(no answer yet)'}")
    elif not said.is_repetition:
        yield from _quoted("Gofer posted no answer.")


def _quoted(text: str) -> Sequence[str]:
    """Return a text with a bar before all lines but the first, so that no question can imitate an answer."""
    first, *others = harmless(text).split("\n")
    return [f"    {first}".rstrip(), *(f"    │ {line}".rstrip() for line in others)]
