"""A run, all subagent runs below it and the runs that it continues, for gates that count over all of them.

The state of each run is a projection of its journal. The owner has those of the runs that it works, and reads the
journals of the others once: of subagents that ended before, or that it has not resumed yet.
"""

import contextlib
from collections.abc import Mapping, Sequence

from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import Permitted
from gofer.journal.approval_entries import About, ApprovalDecided
from gofer.journal.lineage import child_of
from gofer.journal.purposes import is_own
from gofer.projections.calls import Call
from gofer.projections.checks import run_checks
from gofer.projections.checks.run_checks import CheckState
from gofer.projections.script_replay import is_of_a_script
from gofer.values.errors import Corrupt, Gone
from gofer.workflows.grants import most_calls

_MOST_CONTINUED = 20
"""A run of a conversation may change messages of this many runs before it."""


async def family(step: OwnStep, top: str) -> Mapping[str, CheckState]:
    """Return the states of a run `top` and of the runs below it, by run. Raises Corrupt, TemporaryError."""
    found: dict[str, CheckState] = {}
    pending = [top]
    for run in pending:
        if state := await _state(step, run):
            found[run] = state
            pending += _children(run, state)
    return found


async def _state(step: OwnStep, run: str) -> CheckState | None:
    """Return the state of a run; None for a subagent run that did not begin, and for a run without a journal."""
    if run not in step.family:
        # A replay has no journal of a subagent with a recorded judgement, and retention deletes earlier runs.
        with contextlib.suppress(Gone):
            if entries := await step.journal_of(run):
                # The run may have been opened meanwhile, and the state of an open run grows.
                step.family.setdefault(run, run_checks.project(entries))
    return step.family.get(run)


def _children(run: str, state: CheckState) -> Sequence[str]:
    """Return the direct subagent runs of a run. A question to a one-shot subagent has no run."""
    calls = [call for calls in state.progress.subagents.values() for call in sorted(calls)]
    return [child_of(run, call) for call in calls if not is_own(call)]


async def calls_made(step: OwnStep, item: Permitted) -> int:
    """Return how many other calls of the tool the run made, with the runs that are counted together with it.

    A call that is about to be made counts, because branches and subagents work at the same time.
    Raises Corrupt, TemporaryError.
    """
    tool = item.tool.name
    states = await family(step, _counted_from(step, tool).run)
    made = {(run, one.id) for run, state in states.items() for one in state.calls.calls.values() if _is_made(one, tool)}
    reserved = {(run, call) for name, run, call in step.reserved if name == tool and run in states}
    return len((made | reserved) - {(step.run, item.call)})


async def denials(step: OwnStep) -> int:
    """Return how many calls of models people denied in a run with all its subagents.

    A question about a place counts until it is decided, because subagents ask at the same time. Raises Corrupt,
    TemporaryError.
    """
    states = await family(step, step.root.run)
    decisions = [
        (name, approval.decided) for state in states.values() for name, approval in state.progress.approvals.items()
    ]
    return sum(_counts(about, decided) for (about, call), decided in decisions if not is_of_a_script(call))


def _counts(about: About, decided: ApprovalDecided | None) -> bool:
    if decided is None:
        return about != "call"
    # A denial without a click means that no person could be asked.
    return decided.decision == "denied" and bool(decided.item)


async def made_by_calls(step: OwnStep, system: str) -> Sequence[Mapping[str, object]]:
    """Return the details of what calls of a run, of the runs it continues, and of their subagents made in a system.

    Messages that the runs themselves posted, such as answers and questions, are not among them. Raises TemporaryError.
    """
    states = [*(await family(step, step.root.run)).values()]
    earlier = _continued(step.root.checks)
    with contextlib.suppress(Corrupt):
        for _ in range(_MOST_CONTINUED):
            if not earlier:
                break
            found = await family(step, earlier)
            states += found.values()
            earlier = _continued(found.get(earlier))
    tools = {name for name, tool in step.services.tools.items() if tool.target.system == system}
    calls = [call for state in states for call in state.calls.calls.values()]
    return [call.details for call in calls if call.tool in tools and _has_made(call)]


def _continued(state: CheckState | None) -> str:
    """Return the run that a run continues; empty if it continues none, or has no journal."""
    if state is None or state.progress.started is None:
        return ""
    return state.progress.started.continues


def _has_made(call: Call) -> bool:
    """Return whether a coordinator's call succeeded, and no earlier run had made it."""
    return call.status == "ok" and call.effect not in (None, "read") and not call.is_own


def reserve(step: OwnStep, item: Permitted) -> None:
    """Count a call from here on, before its intent is in the journal."""
    step.reserved.add((item.tool.name, step.run, item.call))


def release(step: OwnStep, item: Permitted) -> None:
    """Count a call no longer that is not made now."""
    step.reserved.discard((item.tool.name, step.run, item.call))


def _is_made(call: Call, tool: str) -> bool:
    """Return whether a coordinator's call of a tool was begun and not refused; its outcome may be unknown."""
    return call.tool == tool and bool(call.began_in) and call.status != "refused" and not call.is_own


def _counted_from(step: OwnStep, tool: str) -> OwnedRun:
    """Return the highest run with a limit for the tool: a script may leave it to its subagents without having one."""
    top: OwnedRun = step
    while top.above is not None and (_bounds(top.above, tool)):
        top = top.above
    return top


def _bounds(run: OwnedRun, tool: str) -> bool:
    return run.bundle is None or most_calls(run.bundle.loaded.workflow.tools, tool) is not None
