"""How a call happens: intent, effect, outcome, each journaled in this order, and only here.

An intent is committed before its effect begins. An outcome waits in the draft for the next intent, so that both share a
frame. On resume a call with an outcome is answered from the journal, and a call in doubt by its effect
(`engine/effects.py`). What may be called is decided before: by `own_step.py` and `working_step.py`, its only callers.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gofer.engine.effects import LOST, carry_out, doubt_after_restore, longest
from gofer.engine.model_order import Parked
from gofer.engine.outages import parked, settle
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import Gate, Permitted
from gofer.engine.results import Shown, Taken, entries_of
from gofer.engine.run_files import Reach
from gofer.journal import entries as e
from gofer.sources.part_values import Outcome
from gofer.tools.definition import Call, Provenance, Repertoire, RunAtHand
from gofer.values.errors import Cancelled, Fenced, OutOfTime, RunStopped, TemporaryError

Happen = Callable[[Permitted, str], Awaitable[Sequence[e.Entry]]]
"""Makes a call happen that has its intent, and gives what is journaled of it; the text says why it is in doubt."""
T = TypeVar("T")
_WORST_FIRST = (asyncio.CancelledError, Fenced, Cancelled, TemporaryError, RunStopped, OutOfTime, Parked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one call sees of its run, and how much of its outcome is shown."""

    provenance: Provenance
    shown: Shown
    repertoire: Repertoire
    long: bool
    """Whether a text that is too long for the window becomes a file; else it is cut."""


async def make_calls(run: OwnedRun, calls: Sequence[Permitted], gate: Gate, happen: Happen) -> Sequence[Outcome]:
    """Make calls at once, with intents that share one frame; return the outcomes in the order given.

    Raises Cancelled or OutOfTime when nothing new may begin, Parked when one of them has to wait, and what the gate
    raises.
    """
    known = {*run.progress.outcomes, *run.progress.in_doubt}
    fresh = [item for item in calls if item.call not in known]
    if fresh:
        await run.begin(max(longest(item.tool, run.services.patience) for item in fresh))
        gate()
        for item in fresh:
            run.note(item.intent)
        await run.commit()
    doubtful = [item for item in calls if item.call not in run.progress.outcomes]
    outcomes, stopped = await together(*(happen(item, _doubt(run, item, fresh)) for item in doubtful))
    noted = list(itertools.chain.from_iterable(outcomes))
    for entry in noted:
        run.note(entry)
    if stopped is not None:
        raise stopped
    if deferred := [entry for entry in noted if isinstance(entry, e.CallDeferred)]:
        raise Parked(parked(deferred))
    return [run.progress.outcomes[item.call] for item in calls]


async def attempt(run: OwnedRun, item: Permitted, doubt: str, sight: Sight) -> Sequence[e.Entry]:
    """Make one call happen by its effect; return what is journaled of it."""
    clock = run.services.outside.clock
    began = clock.monotonic()
    alone = _call(run, item, sight)
    reach = Reach(run.files, run.services, run.workspace, alone)
    call = replace(alone, run=replace(alone.run, files=reach))
    # Cancelled calls are not retried, except the cancellation notice.
    outcome = await carry_out(item.tool, call, item.sent, run.permit, doubt=doubt, wanted=run.wanted)
    waited_ms = run.progress.call_waits_ms.get(item.call, 0)
    settled = settle(item, outcome, run.services.patience, waited_ms=waited_ms, now_ms=run.now_ms())
    if isinstance(settled, e.CallDeferred | e.ToolUnknown):
        return [*reach.fetched, settled]
    taken = Taken(item.call, item.tool.name, read=item.tool.effect == "read", valued=item.valued, long=sight.long)
    took_ms = int(clock.monotonic() * 1000) - int(began * 1000)
    return await entries_of(taken, settled, took_ms, reach, run.files, sight.shown.of(item.tool))


def _doubt(run: OwnedRun, item: Permitted, fresh: Sequence[Permitted]) -> str:
    """Return why an earlier attempt of a call may have had its effect; empty where there was none."""
    if item in fresh and not item.key:
        return doubt_after_restore(item.tool, item.call, restored=run.progress.restored)
    if waited := run.progress.waits.get(item.call):
        return waited.reason
    return LOST


def _call(run: OwnedRun, item: Permitted, sight: Sight) -> Call:
    """Return a call as its tool sees it, without files."""
    event = run.progress.event
    if event is None:
        raise RunStopped(f"Run {run.run} has no event; its journal does not begin with a claim.")
    outside = run.services.outside
    # Of a call under an earlier run's key the journal knows since when: an owner after this one has to, too.
    recorded = run.progress.in_doubt.get(item.call)
    key = (recorded.key if recorded else "") or f"{run.run}/{item.call}"
    since = ((recorded.since if recorded else 0) or run.progress.accepted_at) / 1000
    return Call(
        key=key,
        origin=event,
        provenance=sight.provenance,
        http=outside.http,
        clock=outside.clock,
        at=run.progress.intended_at.get(item.call, 0) / 1000,
        since=since,
        cleared=item.cleared,
        run=RunAtHand(
            workspace=run.workspace,
            repertoire=sight.repertoire,
            whole_tokens=sight.shown.whole,
            look_bytes=sight.shown.look,
        ),
    )


async def together(*parts: Awaitable[T]) -> tuple[Sequence[T], BaseException | None]:
    """What those gave that came to their end, in the order given, and the one reason why the others did not.

    All of them come to an end before it returns: nothing goes on behind the back of the caller.
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
    """Return the rank of a failure; an unforeseen one comes first."""
    return next((at for at, kind in enumerate(_WORST_FIRST) if isinstance(failure, kind)), -1)
