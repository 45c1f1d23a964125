"""`gofer runs`: lists the newest runs with their status, and with `--stuck` the runs that need attention."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gofer.app.operations import Operations
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.run_filters import (
    conversation_lines,
    conversation_rows,
    filter_options,
    find,
    is_filtered,
    lines,
    rows,
)
from gofer.cli.run_filters import notes as search_notes
from gofer.cli.terminal import print_lines
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.journal.unlisted_ends import recent
from gofer.projections.listing import one_for_each_event, row_of, unlisted_lines, why
from gofer.projections.progress import project
from gofer.projections.tracing.trace import timestamp
from gofer.runtime.backlog import backlog_lines, read_backlog
from gofer.runtime.concurrency import each
from gofer.runtime.retention import ended_runs
from gofer.values.errors import ConfigError, Corrupt, Gone

STILL_MS = 900_000
"""Milliseconds without a frame after which a run counts as stuck. From the third minute a sweep enqueues it each
minute."""
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Stuck:
    """The stuck runs."""

    public: Sequence[Head]
    """The runs that may be listed, oldest first."""
    private: Sequence[str]
    """The ids of private runs, sorted."""
    waiting: Sequence[str]
    """One sentence for each cause for which runs wait, also those that wait for less than 15 minutes."""


async def find_stuck(opened: Operations) -> Stuck:
    """Return all stuck runs. Raises TemporaryError."""
    store = opened.stores.journals
    before = int(opened.clock.now() * 1000) - STILL_MS
    # A working run writes frames, but not its row.
    found = await _those(opened, await _unfinished(opened, before), lambda journal: journal[-1].at < before)
    # The others need attention because they finished that way.
    found += await _those(opened, await _abandoned(opened), lambda journal: project(journal).finished is None)
    found += [head async for page in ended_runs(store, "deleting", before) for head in page]
    due = [head async for page in ended_runs(store, "due", before, private=True) for head in page]
    # The contents of a run that became private later stay until they are due.
    found += await _those(opened, due, lambda journal: project(journal).private)
    known = {head.run: head for head in found}
    public = sorted((head for head in known.values() if not head.private), key=lambda head: head.accepted_at)
    private = sorted(head.run for head in known.values() if head.private)
    waiting = backlog_lines(await read_backlog(opened.stores.journals), opened.clock)
    return Stuck(public, private, waiting)


async def _unfinished(opened: Operations, before: int) -> Sequence[Head]:
    """Return every unfinished run with a row that was not written since `before`."""
    found: list[Head] = []
    while page := await opened.stores.journals.unfinished(before, _PAGE, after=found[-1] if found else None):
        found += page
    return found


async def _abandoned(opened: Operations) -> Sequence[Head]:
    """Return the runs that seem abandoned, including private ones."""
    return [head async for page in opened.stores.journals.marked("abandoned") for head in page]


async def _those(
    opened: Operations, heads: Sequence[Head], is_stuck: Callable[[Sequence[Recorded]], bool]
) -> list[Head]:
    """Return the runs that are stuck as their journals say, and those without a journal that can be read."""

    async def decide(head: Head) -> bool:
        try:
            journal = await read_journal(head.run, opened.stores.journals, opened.stores.blobs)
        except (Corrupt, Gone):
            return True
        return not journal or is_stuck(journal)

    decided = await each(decide, heads)
    return [head for head, stuck in zip(heads, decided, strict=True) if stuck]


_STUCK = "list stuck runs: no progress for 15 minutes, abandoned, or not deleted in time; private runs by id only"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer runs`."""
    parser.add_argument("--json", action="store_true", help="print one JSON list on stdout")
    parser.add_argument(
        "--limit", type=number(1, 10_000), default=20, metavar="N", help="list at most N runs (default 20)"
    )
    parser.add_argument("--stuck", action="store_true", help=_STUCK)
    filter_options(parser)
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the newest runs that are not private, or all stuck runs."""
    if arguments.stuck and is_filtered(arguments):
        raise ConfigError("--stuck lists all stuck runs; leave the other filters out.")
    if arguments.stuck:
        return _execute_stuck(arguments)
    if is_filtered(arguments):
        return _execute_search(arguments)
    with operations(arguments) as opened:
        heads, notes = asyncio.run(_read(opened, arguments.limit))
    for line in notes:
        print(line, file=sys.stderr)
    if arguments.json:
        print(json.dumps([row_of(head) for head in heads], indent=2))
        return 0
    print_lines(map(_line, heads))
    if not heads:
        print("There are no runs that may be listed.", file=sys.stderr)
    return 0


def _execute_stuck(arguments: argparse.Namespace) -> int:
    """Print the stuck runs; for private runs only their ids."""
    with operations(arguments) as opened:
        stuck = asyncio.run(find_stuck(opened))
    for line in stuck.waiting:
        print(line, file=sys.stderr)
    if arguments.json:
        rows = [row_of(head) for head in stuck.public]
        print(json.dumps([*rows, *({"run": run} for run in stuck.private)], indent=2))
        return 0
    print_lines([*map(_line, stuck.public), *stuck.private])
    if not stuck.public and not stuck.private:
        print("No run is stuck.", file=sys.stderr)
    return 0


def _execute_search(arguments: argparse.Namespace) -> int:
    """Print the runs that meet the filters."""
    with operations(arguments) as opened:
        wanted, found = asyncio.run(find(opened, arguments))
    for line in search_notes(wanted, found):
        print(line, file=sys.stderr)
    if arguments.json:
        shown = rows(found)
        if arguments.conversations:
            shown = conversation_rows(found)
        print(json.dumps(shown, indent=2))
        return 0
    shown = lines(found)
    if arguments.conversations:
        shown = conversation_lines(found)
    print_lines(shown)
    return 0


def _line(head: Head) -> str:
    return f"{head.run}  {head.status:<15} {timestamp(head.accepted_at)}  {head.workflow}  {why(head)}".rstrip()


async def _read(opened: Operations, limit: int) -> tuple[Sequence[Head], list[str]]:
    """Return the newest runs, and notes about unlisted runs and dead letters."""
    notes = unlisted_lines(await recent(opened.stores.journals, int(opened.clock.now() * 1000)))
    for letter in await opened.stores.queue.dead_letters(limit):
        head = await opened.stores.journals.head(letter.run)
        if head is None or head.status != "done":
            # The note must not reveal which private run it is about.
            if head and not head.private:
                name = f"run {letter.run}"
            else:
                name = "a run that is not listed"
            at = timestamp(int(letter.at * 1000))
            notes.append(f"Dead letter at {at}: the queue message of {name}; {letter.reason}.")
    # More than the limit, because some may be left out.
    return one_for_each_event(await opened.stores.journals.heads(2 * limit))[:limit], notes
