"""The open work of a run: what began and has not ended, and the state that follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from gofer.journal import entries as e
from gofer.journal.approval_entries import About, Decision
from gofer.journal.purposes import COMPACTION, is_own
from gofer.projections.script_replay import is_of_a_script

State = Literal[
    "",
    "accepted",
    "admission",
    "thinking",
    "acting",
    "observing",
    "running",
    "compacting",
    "waiting_quiet_time",
    "waiting_model",
    "waiting_approval",
    "waiting_earlier_run",
    "waiting_rate_limit",
    "waiting_outage",
    "waiting_subagent",
    "handed_over",
    "delivering",
    "done",
]
"""The state of a run; empty before its first entry."""

WORDS: Mapping[State, str] = {
    "": "not begun",
    "accepted": "accepted",
    "admission": "in admission",
    "thinking": "thinking",
    "acting": "acting",
    "observing": "observing",
    "running": "running its script",
    "compacting": "compacting",
    "waiting_quiet_time": "waiting for the end of a quiet time",
    "waiting_model": "waiting for a model",
    "waiting_approval": "waiting for an approval",
    "waiting_earlier_run": "waiting for an earlier run",
    "waiting_rate_limit": "waiting for the rate limit of a vendor",
    "waiting_outage": "waiting for a vendor that does not answer",
    "waiting_subagent": "waiting for a subagent",
    "handed_over": "handed over",
    "delivering": "concluding",
    "done": "done",
}
"""The states for people.

A run is thinking while a model has its request, acting while calls are open, and observing between them. A script runs
where a model observes and thinks. A run is concluding from its conclusion to its end, and delivers its answer if it
has one.
"""

_COMPACTION = f"{COMPACTION}/"
"""The beginning of the id of the question that asks the model for a summary."""

_WAITING: Mapping[e.ParkReason, State] = {
    "quiet_time": "waiting_quiet_time",
    "model": "waiting_model",
    "approval": "waiting_approval",
    "earlier_run": "waiting_earlier_run",
    "rate_limit": "waiting_rate_limit",
    "outage": "waiting_outage",
}


@dataclass(slots=True)
class OpenWork:
    """What of one run began and has not ended."""

    coordinator: Literal["", "llm", "script"] = ""
    """What decides the next step; empty before the first step shows it."""
    accepted: bool = False
    started: bool = False
    concluded: bool = False
    finished: bool = False
    checked: bool = False
    graded: bool = False
    reviewed: bool = False
    owner: str = ""
    """The present or last owner; empty before the first one."""
    left: e.RunParked | e.RunHandedOver | None = None
    """The entry with which the last owner left; None while an owner works."""
    is_asking: bool = False
    """Whether a model has the request of the coordinator."""
    asked: set[str] = field(default_factory=set[str])
    """The calls that the model asked for and that have no outcome."""
    calls: set[str] = field(default_factory=set[str])
    """The calls with an intent and without an outcome."""
    ended: set[str] = field(default_factory=set[str])
    """The calls with an outcome, and the recorded values of a script."""
    deferred: set[str] = field(default_factory=set[str])
    """The calls, questions and requests whose next attempt comes later."""
    subagents: dict[str, e.SubagentStarted] = field(default_factory=dict[str, e.SubagentStarted])
    """The subagents and questions that have not answered, by call."""
    resumable: set[str] = field(default_factory=set[str])
    """The questions that may be asked again, because they were deferred or their owner was replaced."""
    approvals: dict[tuple[About, str], Decision | None] = field(
        default_factory=dict[tuple[About, str], Decision | None]
    )
    """The approval requests by question and call, with their decisions; None before that."""
    turn: int = 0
    """The number of answers of the model."""
    is_compacted: bool = False
    """Whether this owner has compacted the history since the last request."""

    @property
    def work(self) -> set[str]:
        """The open calls of the model or the script, without the run's own calls."""
        return {call for call in self.calls if not is_own(call)}

    @property
    def is_compacting(self) -> bool:
        """Whether the model writes a summary of the history."""
        return any(call.startswith(_COMPACTION) for call in self.subagents)

    @property
    def state(self) -> State:
        """The state of the run."""
        if not self.accepted:
            return ""
        if self.finished:
            return "done"
        if self.left is not None:
            return self._reason_of(self.left)
        if not self.owner:
            return "accepted"
        if self.concluded:
            return "delivering"
        if not self.started:
            return "admission"
        return self._working_state()

    def _working_state(self) -> State:
        if self.is_asking:
            return "thinking"
        if self.is_compacting:
            return "compacting"
        if self.asked or self.subagents or self.work:
            return "acting"
        if self.coordinator == "script":
            return "running"
        return "observing"

    def _reason_of(self, left: e.RunParked | e.RunHandedOver) -> State:
        if isinstance(left, e.RunHandedOver):
            return "handed_over"
        waits_itself = None in self.approvals.values() or self.deferred or not self._agents
        if left.reason in ("approval", "model", "rate_limit", "outage") and not waits_itself:
            return "waiting_subagent"
        return _WAITING[left.reason]

    @property
    def _agents(self) -> bool:
        """Whether a subagent with its own run has not answered."""
        return any(started.run for started in self.subagents.values())


def fold(work: OpenWork, recorded: e.Recorded) -> None:
    """Add one more entry to the open work, in place."""
    match recorded.entry:
        case e.RunAccepted():
            work.accepted = True
        case e.RunOwned():
            _take_over(work, recorded.owner)
        case e.RunParked() | e.RunHandedOver() as left:
            work.left = left
        case e.RunStarted():
            work.started = True
        case e.LlmRequest() | e.LlmResponse() as turn:
            _take_turn(work, turn)
        case e.ToolCall() | e.ToolResult() | e.ToolUnknown() | e.CallDeferred() as change:
            _change_call(work, change)
        case e.SubagentStarted() | e.SubagentFinished() as change:
            _change_subagent(work, change)
        case e.ApprovalRequested(about=about, call=call):
            work.approvals[about, call] = None
        case e.ApprovalDecided(about=about, call=call, decision=decision):
            work.approvals[about, call] = decision
        case e.ValueRecorded(call=call):
            work.coordinator = work.coordinator or "script"
            work.ended.add(call)
        case e.ContextCompacted():
            _end_compaction(work)
            work.is_compacted = True
        case e.RunConcluded():
            work.concluded = True
        case e.RunFinished():
            work.finished = True
        case e.RunChecked():
            work.checked = True
        case e.RunGraded():
            work.graded = True
        case e.RunReviewed():
            work.reviewed = True
        case e.FeedbackGiven():
            pass
        case e.MessageReceived() | e.RunCancelled() | e.RunRetried() | e.ApprovalClicked() | e.PermitRenewed():
            pass
        case e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated():
            pass  # a part of the call that caused it
        case _:
            assert_never(recorded.entry)


def _take_over(work: OpenWork, owner: str) -> None:
    work.owner = owner
    work.left = None
    # An answer that the earlier owner did not record is lost, so the request is made again.
    work.is_asking = False
    work.is_compacted = False
    work.resumable |= work.subagents.keys()
    _end_compaction(work)


def _end_compaction(work: OpenWork) -> None:
    for call in [call for call in work.subagents if call.startswith(_COMPACTION)]:
        del work.subagents[call]


def _take_turn(work: OpenWork, turn: e.LlmRequest | e.LlmResponse) -> None:
    work.coordinator = work.coordinator or "llm"
    work.deferred.discard("model")
    match turn:
        case e.LlmRequest():
            work.is_asking = True
            work.is_compacted = False
        case e.LlmResponse(tool_calls=asks):
            work.is_asking = False
            work.turn += 1
            work.asked = {f"{work.turn}.{index}" for index in range(len(asks))}


def _change_call(work: OpenWork, change: e.ToolCall | e.ToolResult | e.ToolUnknown | e.CallDeferred) -> None:
    if is_of_a_script(change.call):
        work.coordinator = work.coordinator or "script"
    match change:
        case e.ToolCall(call=call):
            work.calls.add(call)
            work.deferred.discard(call)
        case e.ToolResult(call=call) | e.ToolUnknown(call=call):
            work.asked.discard(call)
            work.calls.discard(call)
            work.deferred.discard(call)
            work.subagents.pop(call, None)
            work.ended.add(call)
        case e.CallDeferred(call="model"):
            work.is_asking = False
            work.deferred.add("model")
        case e.CallDeferred(call=call, in_doubt=in_doubt):
            work.deferred.add(call)
            work.resumable.add(call)
            if not in_doubt:
                work.calls.discard(call)


def _change_subagent(work: OpenWork, change: e.SubagentStarted | e.SubagentFinished) -> None:
    if is_of_a_script(change.call):
        work.coordinator = work.coordinator or "script"
    work.deferred.discard(change.call)
    work.resumable.discard(change.call)
    match change:
        case e.SubagentStarted():
            work.subagents[change.call] = change
        case e.SubagentFinished():
            work.subagents.pop(change.call, None)
