"""The run of a subagent and its owner: taking over, leaving and settling the run.

The run has a journal like any other, but no queue message and no lease: the owner of the root run owns all runs below.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gofer.engine.approvals import close
from gofer.engine.checked_end import note_end
from gofer.engine.model_order import Parked
from gofer.engine.outgoing import read_addresses_in
from gofer.engine.own_step import OwnStep
from gofer.journal.entries import (
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    SubagentFinished,
    SubagentStarted,
)
from gofer.journal.subagent_entries import Exchanged
from gofer.journal.workspace_entries import FileAdded
from gofer.tools.definition import Provenance
from gofer.values.messages import Usage


async def take_over(child: OwnStep, started: SubagentStarted, *, alone: bool) -> None:
    """Take over the run of a subagent. Raises Parked while it waits, or while a crashed owner may still be sending.

    `alone` says whether every earlier owner is known to be dead.
    """
    parked = child.progress.parked
    above = child.above
    if parked and parked.until > child.now_ms() and child.is_wanted and not await child.has_news():
        raise Parked(parked)
    again = bool(child.progress.owned_at or child.progress.in_doubt)
    child.note(RunOwned(child.services.version))
    if again:
        # This frame fences an earlier owner.
        await child.commit()
        if above is not None and child.progress.attempts.crashed <= 1:
            # Progress of the subagent counts for the parent, so that repeated crashes do not end the parent too early.
            resumed = above.progress.asking.get(started.call, started)
            above.note(replace(resumed, resumed=resumed.resumed + 1))
            await above.commit()
    await child.take_inbox()
    if seconds := child.quiet_left(alone):
        quiet = RunParked("quiet_time", child.now_ms() + int(seconds * 1000) + 1)
        await leave(child, quiet)
        raise Parked(quiet)


async def leave(child: OwnStep, entry: RunParked | RunHandedOver | RunFinished) -> None:
    """Record how this owner leaves the run of a subagent. Raises Fenced, TemporaryError."""
    if isinstance(entry, RunFinished):
        await note_end(child, entry)
    else:
        child.note(entry)
    await child.commit()


async def end_subagents(step: OwnStep, reason: str, provenance: Provenance) -> None:
    """End and settle the subagents that are at work, because the run that asked them is over."""
    for call, started in list(step.progress.children.items()):
        if not await step.child_has_begun(started.run):
            unused = SubagentFinished(call, "error", reason, "", Usage(), 0.0, 0, "stopped", started.run, llm_calls=0)
            step.note(unused)
            continue
        held = step.children.get(started.run)
        child = await step.open_child(started, fresh=False)
        if child.progress.finished is None:
            if held is None or not held.progress.owned_at:
                child.note(RunOwned(child.services.version))
            await child.commit()
            await end_subagents(child, reason, provenance)
            # The end repeats a question in doubt, whose message may have buttons.
            await close(child, provenance)
            child.record_unknown_calls(reason)
            await leave(child, RunFinished("cancelled", reason))
        step.note(result_entry(child, started))


def result_entry(child: OwnStep, started: SubagentStarted) -> SubagentFinished:
    """Return the journal entry of a subagent that ended: its answer, and its usage."""
    state = child.progress
    status, code, text = _result(child, started.name)
    return SubagentFinished(
        started.call,
        status,
        text,
        state.models[0] if state.models else "",
        state.usage,
        state.cost_usd,
        max(0, state.last_at - state.accepted_at),
        code,
        child.run,
        state.llm_calls,
        state.tool_calls,
        tuple(sorted(state.locked)),
        tuple(Exchanged(model, tokens) for model, tokens in state.largest.items()),
        child.frames,
        state.spent_usd,
        _failed_checks(child),
        _settled(child),
        addresses=tuple(sorted(read_addresses_in(child, text))),
    )


def _settled(child: OwnStep) -> tuple[str, ...]:
    """Return the settled tools with an effect outside, which a workflow may require."""
    tools = child.services.tools
    return tuple(name for name in sorted(child.checks.calls.settled) if name in tools and tools[name].effect != "read")


def _failed_checks(child: OwnStep) -> tuple[str, ...]:
    checked = child.progress.checked
    if checked is None:
        return ()
    return tuple(verdict.check for verdict in checked.verdicts if not verdict.passed)


def named_files(step: OwnStep, child: OwnStep) -> Sequence[FileAdded]:
    """Return the files that a subagent's answer names and that the asking run does not have."""
    concluded = child.progress.concluded
    if concluded is None:
        return []
    return [
        replace(held.added, preloaded=False)
        for file, held in child.workspace.files.items()
        if file in concluded.text and file not in step.workspace.files
    ]


def _result(child: OwnStep, name: str) -> tuple[Literal["ok", "error"], str, str]:
    """Return status, code and text of a subagent that ended."""
    concluded = child.progress.concluded
    finished = child.progress.finished
    if concluded is not None and concluded.status == "done":
        return "ok", "", concluded.text
    code = "stopped"
    reason = ""
    if finished is not None:
        code = finished.status
        reason = finished.reason
    so_far = ""
    if concluded is not None and concluded.text:
        so_far = f" Its result so far:\n\n{concluded.text}"
    return "error", code, f"The subagent {name} did not finish: {reason.rstrip('.') or code}.{so_far}"
