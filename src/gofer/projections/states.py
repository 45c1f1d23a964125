"""The states of a run: what it did at each moment, and the transitions that no run may make.

A state follows from the open work of the run (`open_work.py`). An entry that this state does not allow is a violation:
no owner that follows the rules of the engine writes it there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from gofer.journal import entries as e
from gofer.journal.purposes import is_own
from gofer.projections import open_work
from gofer.projections.open_work import WORDS, OpenWork, State
from gofer.projections.script_replay import is_of_a_script

NOT_AGAIN = "Not done again:"
"""The first words of the outcome of a call that was not made, because another call did the same before.

Outcomes that are unknown, and results in older journals, have no other mark, so these words never change.
"""
NOT_MADE = "not_made"
"""The key in a result's details that says why the call was not made; its value is a code."""

_KINDS: Mapping[type[e.Entry], str] = {cls: kind for kind, cls in e.KINDS.items()}


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of the state, or an entry that the state does not allow."""

    at: int
    """Unix milliseconds."""
    address: str
    """The address of the entry."""
    before: State
    after: State
    violation: str = ""
    """One sentence that names both states and the entry; empty for a transition that the state allows."""


@dataclass(slots=True)
class States:
    """The states of one run so far."""

    state: State = ""
    transitions: list[Transition] = field(default_factory=list[Transition])
    work: OpenWork = field(default_factory=OpenWork)

    @property
    def is_script(self) -> bool:
        """Whether a script coordinates the run; it has no turns, and its branches make calls at the same time."""
        return self.work.coordinator == "script"

    @property
    def violations(self) -> tuple[Transition, ...]:
        """The transitions that were not allowed, in order."""
        return tuple(one for one in self.transitions if one.violation)


def project(entries: Iterable[e.Recorded]) -> States:
    """Return the states of a whole journal."""
    state = States()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: States, recorded: e.Recorded) -> None:
    """Add one more entry to the states, in place."""
    why = _objection(state.work, recorded)
    if isinstance(recorded.entry, e.ContextCompacted) and not why:
        # A summary that code writes has no question, so the state is entered and left with one entry.
        _change(state, recorded, "compacting", "")
    open_work.fold(state.work, recorded)
    _change(state, recorded, state.work.state, why)


def _change(state: States, recorded: e.Recorded, after: State, why: str) -> None:
    before = state.state
    if before == after and not why:
        return
    violation = ""
    if why:
        kind = _KINDS[type(recorded.entry)]
        violation = (
            f"Entry {recorded.address} ({kind}) is not allowed from {WORDS[before]!r} to {WORDS[after]!r}: {why}."
        )
    state.transitions.append(Transition(recorded.at, recorded.address, before, after, violation))
    state.state = after


def _objection(work: OpenWork, recorded: e.Recorded) -> str:
    """Return why the run may not write the entry now; empty if it may."""
    return _objection_to_time(work, recorded) or _objection_to_owner(work, recorded) or _objection_to(work, recorded)


def _objection_to_time(work: OpenWork, recorded: e.Recorded) -> str:
    """Return why the run may not write any such entry at this time of its life."""
    match recorded.entry:
        case e.RunAccepted() if work.accepted:
            return "the run was accepted before"
        case e.RunAccepted():
            return ""
        case _ if not work.accepted:
            return "the run was not accepted"
        case e.RunChecked() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed() if not work.finished:
            return "the run has not finished"
        case e.RunChecked() if work.checked:
            return "the run was checked before"
        case e.RunGraded() if work.graded:
            return "the run was graded before"
        case e.RunReviewed() if work.reviewed:
            return "the run was reviewed before"
        case e.RunChecked() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed():
            return ""
        case _ if work.finished:
            return "only checks, grades, feedback and the review follow the end of a run"
        case _:
            return ""


def _objection_to_owner(work: OpenWork, recorded: e.Recorded) -> str:
    """Return why the owner of the entry may not act."""
    match recorded.entry:
        case e.RunAccepted() | e.RunOwned() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed():
            return ""
        case _ if not work.owner:
            return "no owner has taken the run over"
        case _ if recorded.owner != work.owner:
            return "its owner was replaced by another owner, or never took the run over"
        case e.RunHandedOver() if isinstance(work.left, e.RunHandedOver):
            return ""  # written again after the store did not confirm the first
        case _ if work.left is not None:
            return "its owner had left the run"
        case _:
            return ""


def _objection_to(work: OpenWork, recorded: e.Recorded) -> str:
    """Return why the open work does not allow the entry."""
    match recorded.entry:
        case e.RunAccepted() | e.RunOwned() | e.RunParked() | e.RunHandedOver():
            return ""
        case e.RunChecked() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed():
            return ""
        case e.RunStarted() | e.RunConcluded() | e.RunFinished() as entry:
            return _objection_to_step_of_life(work, entry)
        case e.LlmRequest() | e.LlmResponse() | e.ContextCompacted() as entry:
            return _objection_to_turn(work, entry)
        case e.ToolCall() as intent:
            return _objection_to_intent(work, intent)
        case e.ToolResult() | e.ToolUnknown() as outcome:
            return _objection_to_outcome(work, outcome)
        case e.CallDeferred() as deferred:
            return _objection_to_deferral(work, deferred)
        case e.SubagentStarted() as started:
            return _objection_to_subagent(work, started)
        case e.SubagentFinished(call=call) if call not in work.subagents and call not in work.ended:
            return f"no subagent of call {call} is at work"
        case e.ValueRecorded() if work.coordinator == "llm":
            return "a model coordinates the run, and only scripts record values"
        case e.ValueRecorded(call=call) if call in work.ended:
            return f"value {call} was recorded before"
        case e.ApprovalRequested(about=about, call=call) if (about, call) in work.approvals:
            return f"an approval of call {call} was requested before"
        case e.ValueRecorded() | e.ApprovalRequested():
            return _objection_to_new_work(work)
        case e.ApprovalDecided(about=about, call=call) if work.approvals.get((about, call), "denied") is not None:
            return f"no approval of call {call} is open"
        case e.SubagentFinished() | e.ApprovalDecided() | e.ApprovalClicked():
            return ""
        case e.MessageReceived() | e.RunCancelled() | e.RunRetried() | e.PermitRenewed():
            return ""
        case e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated():
            return ""
        case _:
            assert_never(recorded.entry)


def _objection_to_step_of_life(work: OpenWork, entry: e.RunStarted | e.RunConcluded | e.RunFinished) -> str:
    match entry:
        case e.RunStarted() if work.started:
            return "the run was started before"
        case e.RunStarted() if work.concluded:
            return "the run was concluded"
        case e.RunConcluded() if work.concluded:
            return "the run was concluded before"
        case e.RunConcluded() if work.is_asking:
            return "a model has a request, and its answer was not recorded"
        case e.RunFinished(status="done") if not work.concluded:
            return "the run has no conclusion"
        case e.RunStarted() | e.RunConcluded() | e.RunFinished():
            return ""


def _objection_to_new_work(work: OpenWork) -> str:
    if work.concluded:
        return "no work follows the conclusion"
    if not work.started:
        return "admission has not started the run"
    return ""


def _objection_to_turn(work: OpenWork, entry: e.LlmRequest | e.LlmResponse | e.ContextCompacted) -> str:
    if why := _objection_to_new_work(work):
        return why
    match entry:
        case _ if work.coordinator == "script":
            return "a script coordinates the run, and it has no turns"
        case e.LlmResponse() if not work.is_asking:
            return "no request is open, so no model can have decided this"
        case e.LlmResponse():
            return ""
        case _ if work.is_asking:
            return "a model has a request already"
        case _ if missing := sorted(work.asked | work.work):
            return f"call {missing[0]} has no outcome"
        case e.ContextCompacted() if work.is_compacted:
            return "the history was compacted already for the next request"
        case e.LlmRequest() if work.subagents:
            return f"the question of call {next(iter(work.subagents))} has no answer"
        case e.LlmRequest() | e.ContextCompacted():
            return ""


def _objection_to_intent(work: OpenWork, intent: e.ToolCall) -> str:
    call = intent.call
    if call in work.calls:
        return f"call {call} is open already"
    if call in work.ended:
        return f"call {call} has an outcome"
    if is_own(call):
        return ""
    if why := _objection_to_new_work(work):
        return why
    if is_of_a_script(call) and work.coordinator == "llm":
        return f"a model coordinates the run, and call {call} is one of a script"
    if not is_of_a_script(call) and call not in work.asked:
        return f"no model asked for call {call}"
    if any(decision != "approved" for (_, asked), decision in work.approvals.items() if asked == call):
        return f"no person approved call {call}"
    return ""


def _objection_to_outcome(work: OpenWork, outcome: e.ToolResult | e.ToolUnknown) -> str:
    call = outcome.call
    if call in work.ended:
        return f"call {call} has an outcome"
    if call in work.calls:
        return ""
    may_be_unmade = call in work.asked or is_of_a_script(call)
    if may_be_unmade and _was_not_made(outcome):
        return _objection_to_new_work(work)
    return f"call {call} is not open"


def _was_not_made(outcome: e.ToolResult | e.ToolUnknown) -> bool:
    match outcome:
        case e.ToolResult(status="refused"):
            return True
        case e.ToolResult(details=dict() as details) if NOT_MADE in details:
            return True
        case e.ToolResult() | e.ToolUnknown():
            return outcome.text.startswith(NOT_AGAIN)


def _objection_to_deferral(work: OpenWork, deferred: e.CallDeferred) -> str:
    if deferred.call == "model":
        if work.is_asking:
            return ""
        return "no model has a request"
    if deferred.call in work.calls or deferred.call in work.subagents:
        return ""
    return f"call {deferred.call} is not open"


def _objection_to_subagent(work: OpenWork, started: e.SubagentStarted) -> str:
    call = started.call
    if why := _objection_to_new_work(work):
        return why
    earlier = work.subagents.get(call)
    if earlier is None:
        return ""
    if call in work.resumable or started.resumed > earlier.resumed:
        return ""
    return f"the subagent of call {call} is at work already"
