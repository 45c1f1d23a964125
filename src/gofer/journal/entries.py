"""The entries of a journal: one frozen dataclass per fact, in the past tense. No entry is ever updated.

The list of classes below is the list of facts. `Entry` is their closed union: a new fact is a new class here, and the
type checker then names every projection that must handle it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.journal.approval_entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.check_entries import RunChecked
from gofer.journal.feedback_entries import FeedbackGiven, FollowUp, RunReviewed
from gofer.journal.grade_entries import RunGraded
from gofer.journal.subagent_entries import SubagentFinished, SubagentStarted
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded, Weights
from gofer.values.errors import Cause
from gofer.values.events import Event
from gofer.values.messages import Media, ProviderError, ToolAsk, Usage

FORMAT = 3
"""The version of frames and entries that is written. Readers know version 2 too, which is the same uncompressed."""


Effect = Literal["read", "keyed", "lookup", "blind"]
"""What happens on resume to a call without an outcome: repeat it, repeat it with its key, look up its effect first, or
never repeat it."""

Status = Literal["done", "limited", "failed", "cancelled", "ignored", "needs_attention"]
"""The status with which a run ended."""


@dataclass(frozen=True, slots=True)
class Route:
    """A route: conditions under which an event of a kind starts a workflow."""

    workflow: str
    where: Mapping[str, Sequence[str]]
    """The conditions: for each fact the accepted words, of which it must have one."""


@dataclass(frozen=True, slots=True)
class RunAccepted:
    """`run.accepted`: the claim of the run. The receiver writes it as frame 1 before the sender gets its 2xx."""

    event: Event
    workflow: str
    parent: str = ""
    """For a subagent run, the run that asked for it; otherwise empty."""
    depth: int = 0
    """The number of runs above a subagent run."""
    routes: tuple[Route, ...] = ()
    """The routes that the receiver matched, the same in each run of the event; empty if only one workflow matched."""


@dataclass(frozen=True, slots=True)
class RunOwned:
    """`run.owned`: from this frame on its owner acts for the run, and no earlier owner can append."""

    gofer: str = ""
    """The version of Gofer that the owner runs; empty if it was not recorded."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """`run.started`: admission admitted the run. `bundle` is the hash of its workflow, prompt and tool schemas."""

    bundle: str
    private: bool
    continues: str = ""
    """The id of the earlier run of the conversation that this run continues, or empty."""
    usd_left: float | None = None
    """US dollars that the person or the workflow in `usd_left_of` had left at the start; None means no limit."""
    usd_left_of: str = ""


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """`message.received`: text for the model, exactly as the model reads it."""

    text: str
    item: str = ""
    """The id of the inbox item with the message; empty for a message of the run itself."""
    media: tuple[Media, ...] = ()
    """The images and documents that the model gets with the text."""
    code: Literal["", "premature", "unmet", "call_as_text"] = ""
    """For code, why the run wrote the message: the previous answer came too early, came without the effect that the
    workflow requires, or was a call written as text."""
    by: str = ""
    """The id of the person who wrote the text as it stands; empty for a text that Gofer composed."""


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """`llm.request`: a request to a model is about to be sent. Its bytes follow from this entry and earlier ones."""

    through: str
    """The address of the last entry with a message in the prompt."""
    prefix_sha256: str
    """The hash of all bytes of the request before the tail."""
    params: Mapping[str, object]
    tail: str
    """The exact text after the prefix, which belongs to this request only and is not kept in the history."""
    weights: Weights | None = None
    """The estimated tokens of the request."""


@dataclass(frozen=True, slots=True)
class LlmResponse:
    """`llm.response`: the recorded answer of a model call; every later effect derives from it."""

    text: str
    tool_calls: tuple[ToolAsk, ...]
    finish_reason: str
    """Why the model stopped: stop, tool_calls, length, content_filter, refusal or function_call, as in `models.Answer`.
    """
    model: str
    usage: Usage
    cost_usd: float | None
    """None if the price of the model is unknown."""
    duration_ms: int
    extra: str = ""
    """A JSON object that the provider requires again in later requests, or empty."""
    thoughts: str = ""
    """The model's reasoning before its answer if `extra` does not hold it, with its tags if it was part of the text."""
    fingerprint: str = ""
    """The provider's `system_fingerprint`: an answer to the same request may differ if it differs; or empty."""
    api: str = ""
    """The format in which the model was asked: responses, chat_completions or messages. Empty for a stand-in, and in
    journals of before there were several."""
    sent_sha256: str = ""
    """The hash of the bytes that were sent, which the format made from the request; empty for a stand-in."""
    cache_miss: str = ""
    """The provider's reason why it did not read its cache; empty if it gave none."""
    ignored: str = ""
    """What the provider ignored of earlier thoughts, and why, in its words; empty if it ignored nothing."""
    response_id: str = ""
    """The provider's id of the answer, with which the next request asks why its cache was not read; or empty."""

    @property
    def known_usd(self) -> float:
        """The cost of the call in US dollars; 0 if its price is unknown."""
        return self.cost_usd or 0.0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`tool.call`: a permitted call is about to be made. Without an outcome the call is in doubt."""

    call: str
    """`<turn>.<index>` for a call of the model, `<purpose>/<n>` for a call of the run itself,
    `<branch>:<tool>:<hash>:<n>` for a call of a script."""
    tool: str
    effect: Effect
    arguments: Mapping[str, object] | None = None
    """None if the arguments are in the `llm.response` of that turn or in `run.concluded`."""
    key: str = ""
    """The idempotency key if an earlier run may have made the same call; empty means run id and call id."""
    since: int = 0
    """With such a key, unix milliseconds before which no run can have made the call."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`tool.result`: the outcome of a call. A call that was refused before it was made has no `tool.call`."""

    call: str
    status: Literal["ok", "error", "refused"]
    text: str
    """For the model."""
    summary: str = ""
    """For people: one line without contents."""
    details: Mapping[str, object] | None = None
    """For code: data that later steps of the run rely on. For a refused call, `code` is the vendor's reason."""
    duration_ms: int = 0
    value: object = None
    """For scripts: the return value of the call in the form that its tool documents, or None if it documents none."""


@dataclass(frozen=True, slots=True)
class ToolUnknown:
    """`tool.unknown`: the outcome of a call cannot be determined; the call is never retried."""

    call: str
    text: str
    """For the model and the trace: why the outcome cannot be determined."""
    destination: str = ""
    """The destination that the call may have changed; its tool is blocked for it until the end of the run."""


@dataclass(frozen=True, slots=True)
class PermitRenewed:
    """`permit.renewed`: its owner still owns the run, shortly before it sends something outside."""


@dataclass(frozen=True, slots=True)
class CallDeferred:
    """`call.deferred`: a call was not answered; it is made again, but not before `until`."""

    call: str
    """`model`, the id of the call of a subagent, or the id of a deferred tool call."""
    reason: str
    """For people: why the call was not answered."""
    until: int = 0
    """Unix milliseconds; 0 means at once, with the next model of the list; after the last model the run ends."""
    in_doubt: bool = False
    """For a tool: whether an earlier attempt may have taken effect."""
    cause: Literal["rate_limit", "outage"] = "rate_limit"
    """For a tool: the outside system limits the rate of calls, or does not answer."""
    last_attempt_at: int = 0
    """For a tool: unix milliseconds of the last attempt, after which the call has failed."""
    system: str = ""
    """For a tool: the display name of the outside system that it waits for."""
    provider_error: ProviderError | None = None
    """For a model: the error of its provider."""


@dataclass(frozen=True, slots=True)
class ValueRecorded:
    """`value.recorded`: a value of the clock or of chance for a script, which gets the same value again on replay."""

    call: str
    value: object


ParkReason = Literal["quiet_time", "model", "approval", "earlier_run", "rate_limit", "outage"]
"""What a parked run waits for: that requests of a crashed owner have landed, that a model answers again, that a person
decides, that an earlier run finishes an action that both runs must do only once, that an outside system accepts more
calls, or that an outside system answers again."""


@dataclass(frozen=True, slots=True)
class RunParked:
    """`run.parked`: no worker continues the run before `until`; meanwhile it holds no lease of its conversation."""

    reason: ParkReason
    until: int
    """Unix milliseconds; a new item in the inbox wakes the run earlier."""


@dataclass(frozen=True, slots=True)
class RunHandedOver:
    """`run.handed_over`: its owner stopped in good order and does nothing more for the run."""

    reason: Literal["deadline", "interrupted"] = "deadline"
    """`interrupted`: an entry could not be stored, or the worker stopped within a step. Requests may then be sent
    again, and calls may be in doubt."""


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """`run.cancelled`: a person cancelled the run. It starts nothing new but the cancellation notice."""

    by: str
    """The display name of the person who cancelled."""
    item: str = ""
    """The id of the inbox item with the cancellation."""
    actor: str = ""
    """The actor that the run must have for this to count, as the source's id; empty means any actor."""
    message: str = ""
    """The ts of the message that the cancellation is about, which the run read or wrote; empty means the whole run."""
    silent: bool = False
    """Whether no person is left to notify: then the status message is deleted."""


@dataclass(frozen=True, slots=True)
class RunRetried:
    """`run.retried`: an operator requested the next attempt now; with `restored`, for a run that a backup restored."""

    by: str
    """The display name of the operator."""
    item: str = ""
    """The id of the inbox item with the request."""
    restored: bool = False


@dataclass(frozen=True, slots=True)
class RunConcluded:
    """`run.concluded`: the work is over and the answer is fixed; only its delivery is left."""

    status: Status
    reason: str
    text: str
    """The answer for people, or the reason why there is none."""
    output: Mapping[str, object] | None = None
    """The answer as the value that the workflow's `output` specifies."""
    cause: Cause = ""
    system: str = ""
    """The display name of the outside system that was the cause, or empty."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """`run.finished`: the end of the run, after its answer was delivered or delivery failed for `reason`."""

    status: Status
    reason: str = ""
    cause: Cause = ""
    system: str = ""
    """As in `run.concluded`."""


Item = MessageReceived | RunCancelled | RunRetried | ApprovalClicked | FollowUp
"""The entries that other processes may put into an inbox."""

Entry = (
    RunAccepted
    | RunOwned
    | RunStarted
    | MessageReceived
    | LlmRequest
    | LlmResponse
    | ToolCall
    | ToolResult
    | ToolUnknown
    | PermitRenewed
    | CallDeferred
    | SubagentStarted
    | SubagentFinished
    | ValueRecorded
    | FileAdded
    | FileRead
    | SkillLoaded
    | PlanUpdated
    | ContextCompacted
    | ApprovalRequested
    | ApprovalClicked
    | ApprovalDecided
    | RunParked
    | RunHandedOver
    | RunCancelled
    | RunRetried
    | RunConcluded
    | RunFinished
    | RunChecked
    | RunGraded
    | FeedbackGiven
    | RunReviewed
)

KINDS: Mapping[str, type[Entry]] = {
    "run.accepted": RunAccepted,
    "run.owned": RunOwned,
    "run.started": RunStarted,
    "message.received": MessageReceived,
    "llm.request": LlmRequest,
    "llm.response": LlmResponse,
    "tool.call": ToolCall,
    "tool.result": ToolResult,
    "tool.unknown": ToolUnknown,
    "permit.renewed": PermitRenewed,
    "call.deferred": CallDeferred,
    "subagent.started": SubagentStarted,
    "subagent.finished": SubagentFinished,
    "value.recorded": ValueRecorded,
    "file.added": FileAdded,
    "file.read": FileRead,
    "skill.loaded": SkillLoaded,
    "plan.updated": PlanUpdated,
    "context.compacted": ContextCompacted,
    "approval.requested": ApprovalRequested,
    "approval.clicked": ApprovalClicked,
    "approval.decided": ApprovalDecided,
    "run.parked": RunParked,
    "run.handed_over": RunHandedOver,
    "run.cancelled": RunCancelled,
    "run.retried": RunRetried,
    "run.concluded": RunConcluded,
    "run.finished": RunFinished,
    "run.checked": RunChecked,
    "run.graded": RunGraded,
    "feedback.given": FeedbackGiven,
    "run.reviewed": RunReviewed,
}
"""Every class of entries by its kind in a journal."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored entry with its address `n.i`, and the time and owner of its frame."""

    n: int
    i: int
    at: int
    """Unix milliseconds of the frame."""
    owner: str
    entry: Entry

    @property
    def address(self) -> str:
        """`n.i`: the number of the frame and the index in the frame."""
        return f"{self.n}.{self.i}"
