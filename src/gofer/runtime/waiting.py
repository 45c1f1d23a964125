"""The message of a run that waits: what it waits for, for whom and until when, in place of the announcement."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from gofer.engine.admission import may_announce
from gofer.engine.approval_question import approver_names
from gofer.engine.model_order import DEFERRED_MINUTES, Parked
from gofer.engine.own_step import OwnStep
from gofer.journal.entries import ApprovalRequested, RunParked
from gofer.journal.purposes import CONTEXT, WAITING, WAITING_APPROVAL
from gofer.projections.waits import moment
from gofer.runtime.deliver import Announced, announce, announced_of
from gofer.sources.registry import source_of
from gofer.tools.definition import Provenance
from gofer.values.errors import OutOfTime
from gofer.values.events import Event
from gofer.workflows.load import Loaded

WAITS = f"_The language model does not answer. I keep trying for {DEFERRED_MINUTES} minutes._"
_AWAY = "_{system} does not answer. I keep trying until {last}._"
_BUSY = "_{system} accepts no more requests now. I will continue at {next}._"
_UNREAD = (
    "_On it. I cannot {aim} yet, because {system} {trouble}. I keep trying until {last}. "
    "The answer will replace this message._"
)
_APPROVAL = "_On it. {tool} needs the approval of {people}, until {until}. The answer will replace this message._"


async def postpone(step: OwnStep, provenance: Provenance, parked: RunParked) -> None:
    """Replace the announcement with what the run waits for: once, and once for each approval.

    If it cannot be posted at once, the run goes on.
    """
    event = step.progress.event
    if event is None or (announced := announced_of(step, event)) is None:
        return
    if parked.reason == "approval":
        await _name_approvers(step, announced, provenance)
    elif text := _notice(step, parked, source_of(event).system):
        await _edit(announced, WAITING, text, provenance)


async def announce_unread(step: OwnStep, event: Event, loaded: Loaded) -> None:
    """Announce a run that waits for its source context, and say so, if its event alone names the place of the answer.

    Raises Cancelled, RunStopped.
    """
    reading = source_of(event).reading
    wait = step.progress.waits.get(CONTEXT)
    if reading is None or wait is None or CONTEXT in step.progress.outcomes:
        return
    if not await may_announce(step, event, loaded):
        return
    trouble = "does not answer that request"
    if wait.cause == "rate_limit":
        trouble = "accepts no more requests of this kind now"
    last = moment(wait.last_attempt_at, step.progress.last_at)
    text = _UNREAD.format(aim=reading.need(event).aim, system=source_of(event).system, trouble=trouble, last=last)
    # If it cannot be posted now, the run tries again when it reads again.
    with contextlib.suppress(Parked, OutOfTime):
        await announce(step, event, loaded.workflow.reply, step.provenance(loaded.prompt_file), text)


async def _edit(announced: Announced, call: str, text: str, provenance: Provenance) -> None:
    # The text names times that no other entry has, so the journal records it.
    await announced.step.call(replace(announced.edit(call, text), recorded=True, longest_wait=0.0), provenance)


async def _name_approvers(step: OwnStep, announced: Announced, provenance: Provenance) -> None:
    """Say who may approve the first call that waits, and until when."""
    for run, requested in _open_requests(step):
        call = WAITING_APPROVAL.format(requested.about, f"{run}/{requested.call}")
        if call in step.progress.outcomes:
            return
        # The run at the top asks for the names, because a subagent that waits writes no entry.
        names = await approver_names(step, requested, provenance)
        # Today is the day of the last entry, as for other waits.
        until = moment(requested.until, step.progress.last_at)
        text = _APPROVAL.format(tool=requested.tool, people=" or ".join(names), until=until)
        await _edit(announced, call, text, provenance)
        return


def _open_requests(step: OwnStep) -> Iterator[tuple[str, ApprovalRequested]]:
    """Yield the requests without a decision of a run and of its subagents, with the id of the run that made each."""
    for approval in step.progress.approvals.values():
        if approval.decided is None:
            yield step.run, approval.requested
    # In the order in which the journal asks them: the owner may open them in any order.
    for started in step.progress.children.values():
        if child := step.children.get(started.run):
            yield from _open_requests(child)


def _notice(step: OwnStep, parked: RunParked, answering_system: str) -> str:
    """Return the text about a wait; empty if people know it, or if it is for the system that they read it in."""
    if parked.reason == "model":
        return WAITS
    waits = [
        wait for wait in step.progress.waits.values() if wait.until == parked.until and wait.system != answering_system
    ]
    if not waits or parked.reason not in ("rate_limit", "outage"):
        return ""
    text = _BUSY
    if parked.reason == "outage":
        text = _AWAY
    wait = waits[0]
    # Today is the day of the last entry: a clock would say something else when the run is replayed.
    today = step.progress.last_at
    last = moment(wait.last_attempt_at, today)
    following = moment(wait.until, today)
    return text.format(system=wait.system or "A system outside", last=last, next=following)
