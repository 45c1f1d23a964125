"""`gofer sweep`: continues the unfinished runs of an earlier process, then stops."""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gofer.app.embedded.runner import open_swept
from gofer.app.embedded.working import working
from gofer.app.operations import Operations
from gofer.app.settings import Settings, process_settings
from gofer.cli.arguments import chosen_place, number, operations, place_options
from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.runtime.sweeper import Sweeper

BATCH = 1_000
PAUSE = 0.05
"""Seconds between two checks for unfinished runs on this machine; on AWS twenty times as many."""
_JSON = "print {ended, waiting, private: {ended, waiting}} on stdout: ids of runs, and numbers of private runs"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer sweep`."""
    parser.add_argument("--json", action="store_true", help=_JSON)
    parser.add_argument(
        "--seconds",
        type=number(1, 86_400),
        default=120,
        metavar="N",
        help="wait at most N seconds for the runs (default 120)",
    )
    place_options(parser)
    parser.epilog = (
        "On AWS the command enqueues each unfinished run for the workers there, and runs nothing on this machine."
    )


def execute(arguments: argparse.Namespace) -> int:
    """Continue the unfinished runs, and print how many finished."""
    if chosen_place(arguments).away:
        swept = _sweep_aws(arguments)
    else:
        swept = _sweep_here(arguments)
    waiting = len(swept.waiting) + swept.private["waiting"]
    if arguments.json:
        print(json.dumps(asdict(swept)))
    else:
        print(
            f"{len(swept.ended) + swept.private['ended']} runs finished, {waiting} are still unfinished.",
            file=sys.stderr,
        )
    if waiting:
        return 1
    return 0


def _sweep_here(arguments: argparse.Namespace) -> "_Swept":
    return asyncio.run(_sweep(process_settings(), arguments.seconds))


def _sweep_aws(arguments: argparse.Namespace) -> "_Swept":
    with operations(arguments) as opened:
        return asyncio.run(_enqueue(opened, arguments.seconds))


@dataclass(frozen=True, slots=True)
class _Swept:
    """The result of a sweep: ids of listed runs, and numbers of private runs."""

    ended: Sequence[str]
    waiting: Sequence[str]
    private: Mapping[str, int]


async def _sweep(settings: Settings, seconds: int) -> _Swept:
    async with open_swept(settings, Path.cwd()) as worker:
        store = worker.services.store
        before = await _unfinished(store)
        async with working(worker):
            await _wait(store, seconds, PAUSE)
        return await _outcome(before, store)


async def _enqueue(opened: Operations, seconds: int) -> _Swept:
    """Enqueue every unfinished run, and wait for the runs to finish."""
    before = await _unfinished(opened.stores.journals)
    await Sweeper(opened.stores.journals, opened.stores.queue, opened.clock).sweep(0)
    await _wait(opened.stores.journals, seconds, 20 * PAUSE)
    return await _outcome(before, opened.stores.journals)


async def _outcome(before: Sequence[Head], store: Store) -> _Swept:
    """Return which of the earlier unfinished runs finished, and which are still unfinished."""
    left = {head.run: head for head in await _unfinished(store)}
    # The heads are read again: whether a run is private is certain only after its admission.
    gone = [await store.head(head.run) for head in before if head.run not in left]
    return _swept([head for head in gone if head], [left[run] for run in sorted(left)])


def _swept(ended: Sequence[Head], waiting: Sequence[Head]) -> _Swept:
    listed = [[head.run for head in heads if not head.private] for heads in (ended, waiting)]
    private = [sum(head.private for head in heads) for heads in (ended, waiting)]
    return _Swept(listed[0], listed[1], {"ended": private[0], "waiting": private[1]})


async def _wait(store: Store, seconds: int, pause: float) -> None:
    """Wait until every run has finished, at most some seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _all_ended(store, pause)


async def _all_ended(store: Store, pause: float) -> None:
    while True:
        if not await _unfinished(store):
            return
        await asyncio.sleep(pause)


async def _unfinished(store: Store) -> Sequence[Head]:
    return await store.unfinished(2**62, BATCH)
