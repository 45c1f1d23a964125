"""The entries of a journal: one frozen dataclass per fact, in the past tense. No entry is ever updated.

The list of classes below is the list of facts. `Entry` is their closed union: a new fact is a new class here,
and the type checker then names every projection that must say what it means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.journal.approval_entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.subagent_entries import SubagentFinished, SubagentStarted
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded, Weights
from gofer.values.errors import Cause
from gofer.values.events import Event
from gofer.values.messages import Media, ProviderError, ToolAsk, Usage

FORMAT = 2
"""The version of frames and entries; a reader refuses every other one."""


Effect = Literal["read", "keyed", "lookup", "blind"]
"""What a call without an outcome means on resume: do again, do again with its key, look first, or never again."""

Status = Literal["done", "limited", "failed", "cancelled", "ignored", "needs_attention"]
"""How a run ended."""


@dataclass(frozen=True, slots=True)
class Route:
    """One way in which a kind of event starts a workflow."""

    workflow: str
    where: Mapping[str, Sequence[str]]
    """Conditions: the words each fact may have, of which it must have one."""


@dataclass(frozen=True, slots=True)
class RunAccepted:
    """`run.accepted`: the claim. Written by ingress as frame 1, before the sender gets its 2xx."""

    event: Event
    workflow: str
    parent: str = ""
    """Of a subagent's run: the run that asks it. Empty for one that something outside started."""
    depth: int = 0
    """How many runs stand above it."""
    routes: tuple[Route, ...] = ()
    """The routes that the receiver matched, the same in each run of the event; empty where one workflow matched."""


@dataclass(frozen=True, slots=True)
class RunOwned:
    """`run.owned`: from here the frame's owner acts for this run, and no earlier owner can append."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """`run.started`: admission let it in. `bundle` is the hash of workflow, prompt and tool schemas it keeps."""

    bundle: str
    private: bool
    continues: str = ""
    """Run id of the earlier run of the conversation that this one goes on from; empty when there is none."""
    usd_left: float | None = None
    """US dollars that its person, or its workflow, had left of `usd_left_of` when it began; None is without end."""
    usd_left_of: str = ""


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """`message.received`: text for the model, exactly as it will read it."""

    text: str
    item: str = ""
    """Id of the inbox item it came in; empty for what the run itself put together."""
    media: tuple[Media, ...] = ()
    """What the model looks at beside it."""
    code: Literal["", "premature", "call_as_text"] = ""
    """For code: why the run itself says it, where that matters: the answer before it came too early, or was a call
    written as text."""


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """`llm.request`: a model is about to be asked. Its bytes follow from this entry and those before it."""

    through: str
    """Address of the last entry with a message in the prompt."""
    prefix_sha256: str
    """Hash of every byte of the request before the tail."""
    params: Mapping[str, object]
    tail: str
    """The exact text after the prefix: what is fresh for this call and not kept in history."""
    weights: Weights | None = None
    """Estimated tokens of what is asked."""


@dataclass(frozen=True, slots=True)
class LlmResponse:
    """`llm.response`: the one recorded answer of a model call; every later effect derives from it."""

    text: str
    tool_calls: tuple[ToolAsk, ...]
    finish_reason: str
    """Why it stopped: stop, tool_calls, length, content_filter, refusal or function_call, as `models.Answer` has it."""
    model: str
    usage: Usage
    cost_usd: float | None
    """None when the model's price is not known."""
    duration_ms: int
    extra: str = ""
    """What its provider wants to see again beside it, as a JSON object; empty for nothing."""
    thoughts: str = ""
    """What it thought before it answered, where `extra` does not hold that; with its tags if it stood in the text."""

    @property
    def known_usd(self) -> float:
        """The US dollars of the call; 0 where its price is not known."""
        return self.cost_usd or 0.0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`tool.call`: permitted, and about to happen. Without an outcome it is in doubt."""

    call: str
    """`<turn>.<index>` for what the model asked, `<purpose>/<n>` for what the run does by itself,
    `<branch>:<tool>:<hash>:<n>` for what a script asks."""
    tool: str
    effect: Effect
    arguments: Mapping[str, object] | None = None
    """None: as the llm.response of that turn asked, or as run.concluded says."""
    key: str = ""
    """The idempotency key, when an earlier run may have made the same call under it; empty: run id and call id."""
    since: int = 0
    """With such a key: unix milliseconds before which no run can have made the call."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`tool.result`: what came of a call. One that was refused before it happened has no tool.call."""

    call: str
    status: Literal["ok", "error", "refused"]
    text: str
    """For the model."""
    summary: str = ""
    """For people: one line without contents."""
    details: Mapping[str, object] | None = None
    """For code: what later steps of the run rely on; of a call that was refused, `code` is the vendor's reason."""
    duration_ms: int = 0
    value: object = None
    """For scripts: what their call returns, in the form that its tool documents; None when it has none of its own."""


@dataclass(frozen=True, slots=True)
class ToolUnknown:
    """`tool.unknown`: whether the call took effect cannot be determined; it is never tried again."""

    call: str
    text: str
    """For the model and the trace: why it cannot be told."""
    destination: str = ""
    """What of the outside it may have changed; its tool is locked for that until the end of the run."""


@dataclass(frozen=True, slots=True)
class PermitRenewed:
    """`permit.renewed`: the owner still is the owner, right before it sends something outside."""


@dataclass(frozen=True, slots=True)
class CallDeferred:
    """`call.deferred`: a call got no answer; it is made again, not before `until`."""

    call: str
    """`model`, the id of a subagent's call, or that of a call of a tool which was not taken now."""
    reason: str
    """For people: what went wrong."""
    until: int = 0
    """Unix milliseconds; 0 means at once: the next model of the list, or after the last of them the end of the run."""
    in_doubt: bool = False
    """For a tool: whether an earlier attempt may have been taken all the same."""
    cause: Literal["rate_limit", "outage"] = "rate_limit"
    """For a tool: the system outside takes no more for now, or it does not answer."""
    last_attempt_at: int = 0
    """For a tool: unix milliseconds of the last attempt; after that the call counts as failed."""
    system: str = ""
    """For a tool: the system outside that it waits for, by the name people know it by."""
    provider_error: ProviderError | None = None
    """For a model: what its provider said."""


@dataclass(frozen=True, slots=True)
class ValueRecorded:
    """`value.recorded`: what a script was told of the clock or of chance, so that it is told the same again."""

    call: str
    value: object


ParkReason = Literal["quiet_time", "model", "approval", "earlier_run", "rate_limit", "outage"]
"""What a parked run waits for: that a lost predecessor's requests have landed, that a model is there again, that
a person decides, that an earlier run is through with what both of them want done once, that a system outside, which
takes no more for now, takes more, or that a system outside answers again."""


@dataclass(frozen=True, slots=True)
class RunParked:
    """`run.parked`: no worker works on it before `until`; it holds neither lease nor conversation meanwhile."""

    reason: ParkReason
    until: int
    """Unix milliseconds; a new item in its inbox wakes it earlier."""


@dataclass(frozen=True, slots=True)
class RunHandedOver:
    """`run.handed_over`: its owner left in good order and does nothing more for it."""

    reason: Literal["deadline", "interrupted"] = "deadline"
    """`interrupted`: something could not be stored, or its worker stopped in the middle. What was asked for may be
    asked again, and calls may be in doubt."""


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """`run.cancelled`: a person asked for it to stop; from here it begins nothing new but telling so."""

    by: str
    """Who asked, as people will read it."""
    item: str = ""
    """Id of the inbox item it came in."""
    actor: str = ""
    """The source's id of the actor that the run has to have; empty is any actor."""
    message: str = ""
    """Which message the wish was about, by its ts: one that the run is about or wrote; empty is the run as a whole."""
    silent: bool = False
    """Whether no person is left to be told: the status message is deleted."""


@dataclass(frozen=True, slots=True)
class RunRetried:
    """`run.retried`: an operator asked for the next attempt now; with `restored`, of a run that a backup had."""

    by: str
    """Who asked, as people will read it."""
    item: str = ""
    """Id of the inbox item it came in."""
    restored: bool = False


@dataclass(frozen=True, slots=True)
class RunConcluded:
    """`run.concluded`: the work is over and this is what will be said; from here only its delivery is left."""

    status: Status
    reason: str
    text: str
    """The answer, or the honest reason why there is none, as people will read it."""
    output: Mapping[str, object] | None = None
    """The answer as the value that the workflow's `output` asks for."""
    cause: Cause = ""
    system: str = ""
    """The system outside that was the cause, by the name people know it by; empty where none was."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """`run.finished`: the end, after the answer was delivered or with the reason why not."""

    status: Status
    reason: str = ""
    cause: Cause = ""
    system: str = ""
    """As in `run.concluded`."""


Item = MessageReceived | RunCancelled | RunRetried | ApprovalClicked
"""What outsiders may put into an inbox."""

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
}
"""Every kind of entry by the name it has in a journal."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An entry where it stands: its address `n.i` and the wall-clock time of its frame."""

    n: int
    i: int
    at: int
    """Unix milliseconds of the frame."""
    owner: str
    entry: Entry

    @property
    def address(self) -> str:
        """`n.i`: frame number and place in the frame."""
        return f"{self.n}.{self.i}"
