"""The making of calls: the intent is journaled, then the effect happens, then the outcome is journaled.

Only this module makes calls. An intent is committed before its effect begins. An outcome waits in the draft for the
next intent, so that both share a frame. On resume, the journal answers a call that has an outcome, and
`engine/effects.py` treats a call in doubt. The only callers, `own_step.py` and `working_step.py`, decide which calls
may be made.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gofer.engine.effects import LOST, carry_out, doubt_after_restore, longest_seconds
from gofer.engine.model_order import Parked
from gofer.engine.outages import note_reach, parked, settle
from gofer.engine.outgoing import live_addresses
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import Gate, Permitted
from gofer.engine.results import DisplayLimits, RecordedCall, entries_of
from gofer.engine.run_files import CallFiles
from gofer.journal import entries as e
from gofer.sources.part_values import Outcome
from gofer.tools.definition import Call, Provenance, Repertoire, RunAtHand
from gofer.values.errors import Cancelled, Fenced, OutOfTime, RunStopped, TemporaryError

MakeCall = Callable[[Permitted, str], Awaitable[Sequence[e.Entry]]]
"""The function that makes a call after its intent and returns its entries. The text says why the call is in doubt."""
T = TypeVar("T")
_WORST_FIRST = (asyncio.CancelledError, Fenced, Cancelled, TemporaryError, RunStopped, OutOfTime, Parked)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """The context of one call: links, display limits, and the run's repertoire."""

    provenance: Provenance
    shown: DisplayLimits
    repertoire: Repertoire
    long_as_file: bool
    """Whether a text that is too long for the window becomes a file; if not, the text is cut."""


async def make_calls(run: OwnedRun, calls: Sequence[Permitted], gate: Gate, make: MakeCall) -> Sequence[Outcome]:
    """Make calls at the same time, with their intents in one frame; return the outcomes in the given order.

    Raises Cancelled or OutOfTime when nothing new may begin, Parked when a call has to wait, and the errors of `gate`.
    """
    known = {*run.progress.outcomes, *run.progress.in_doubt}
    fresh = [item for item in calls if item.call not in known]
    if fresh:
        seconds = max(longest_seconds(item.tool, run.services.patience) for item in fresh)
        await run.begin(seconds, [item.call for item in fresh])
        gate()
        for item in fresh:
            run.note(item.intent)
        await run.commit()
    doubtful = [item for item in calls if item.call not in run.progress.outcomes]
    outcomes, stopped = await await_all(*(make(item, _doubt(run, item, fresh)) for item in doubtful))
    entries = list(itertools.chain.from_iterable(outcomes))
    for entry in entries:
        run.note(entry)
    if stopped is not None:
        raise stopped
    if deferred := [entry for entry in entries if isinstance(entry, e.CallDeferred)]:
        raise Parked(parked(deferred))
    return [run.progress.outcomes[item.call] for item in calls]


async def attempt(run: OwnedRun, item: Permitted, doubt: str, context: CallContext) -> Sequence[e.Entry]:
    """Make one call by the rules of its effect; return its entries for the journal."""
    clock = run.services.outside.clock
    began = clock.monotonic()
    alone = _call(run, item, context)
    files = CallFiles(run.files, run.workspace, alone)
    call = replace(alone, run=replace(alone.run, files=files))
    # Cancelled calls are not retried, except the cancellation notice.
    outcome = await carry_out(item.tool, call, item.sent_arguments, run.permit, doubt=doubt, wanted=run.is_wanted)
    note_reach(run.services, item.tool.target.system, outcome)
    waited_ms = run.progress.call_waits_ms.get(item.call, 0)
    settled = settle(item, outcome, run.services.patience, waited_ms=waited_ms, now_ms=run.now_ms())
    if isinstance(settled, e.CallDeferred | e.ToolUnknown):
        return [*files.fetched, settled]
    recorded = RecordedCall(
        item.call,
        item.tool.name,
        read=item.tool.effect == "read",
        for_script=item.for_script,
        long_as_file=context.long_as_file,
    )
    took_ms = int(clock.monotonic() * 1000) - int(began * 1000)
    return await entries_of(recorded, settled, took_ms, files, run.files, context.shown.of(item.tool))


def _doubt(run: OwnedRun, item: Permitted, fresh: Sequence[Permitted]) -> str:
    """Return why an earlier attempt of a call may have had its effect; empty if there was no attempt."""
    if item in fresh and not item.key:
        return doubt_after_restore(item.tool, item.call, restored=run.progress.restored)
    if waited := run.progress.waits.get(item.call):
        return waited.reason
    return LOST


def _call(run: OwnedRun, item: Permitted, context: CallContext) -> Call:
    """Return the call that the tool gets, still without files."""
    event = run.progress.event
    if event is None:
        raise RunStopped(f"Run {run.run} has no event; its journal does not begin with a claim.")
    outside = run.services.outside
    # The journal keeps the key and start of a call that an earlier run may have made, for every later owner.
    recorded = run.progress.in_doubt.get(item.call)
    key = f"{run.run}/{item.call}"
    since_ms = run.progress.accepted_at
    if recorded is not None:
        key = recorded.key or key
        since_ms = recorded.since or since_ms
    return Call(
        key=key,
        origin=event,
        provenance=context.provenance,
        http=outside.http,
        clock=outside.clock,
        at=run.progress.intended_at.get(item.call, 0) / 1000,
        since=since_ms / 1000,
        cleared=item.cleared,
        readable=item.readable,
        live=live_addresses(run),
        run=RunAtHand(
            workspace=run.workspace,
            repertoire=context.repertoire,
            whole_tokens=context.shown.whole,
            look_bytes=context.shown.media,
            names=run.names,
        ),
    )


async def await_all(*parts: Awaitable[T]) -> tuple[Sequence[T], BaseException | None]:
    """Await all parts; return the results of those that succeeded, in the given order, and the worst failure.

    Every part has ended when this returns, even after a failure.
    """
    results = await asyncio.gather(*parts, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    return [result for result in results if not isinstance(result, BaseException)], _worst(failures)


def _worst(failures: Sequence[BaseException]) -> BaseException | None:
    parked = [failure for failure in failures if isinstance(failure, Parked)]
    if failures and len(parked) == len(failures):
        return min(parked, key=lambda failure: failure.entry.until)
    return min(failures, key=_rank, default=None)


def _rank(failure: BaseException) -> int:
    """Return the rank of a failure; unexpected failures come first."""
    return next((at for at, kind in enumerate(_WORST_FIRST) if isinstance(failure, kind)), -1)
