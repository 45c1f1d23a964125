"""The progress of a run: its status, its usage, and its calls in doubt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from gofer.journal import entries as e
from gofer.journal.purposes import CONTEXT, is_own
from gofer.journal.subagent_entries import Exchanged, Slice
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections import follow_ups
from gofer.projections.approval_requests import Approval, Approvals, record, undecided
from gofer.projections.attempts import Attempts
from gofer.projections.follow_ups import FollowUps
from gofer.projections.waits import sentence_of, sentence_of_quiet
from gofer.values.events import Event
from gofer.values.messages import Usage, asked_at


@dataclass(slots=True)
class Progress:
    """The progress of a run. Times are unix milliseconds."""

    workflow: str = ""
    event: Event | None = None
    routes: tuple[e.Route, ...] = ()
    """The routes that the event matched if they lead to several workflows."""
    started: e.RunStarted | None = None
    concluded: e.RunConcluded | None = None
    finished: e.RunFinished | None = None
    checked: e.RunChecked | None = None
    follow_ups: FollowUps = field(default_factory=FollowUps)
    llm_calls: int = 0
    tool_calls: int = 0
    """The permitted calls of the model or script; calls of the run itself do not count."""
    called: dict[str, int] = field(default_factory=dict[str, int])
    """The number of those calls by tool."""
    said: list[str] = field(default_factory=list[str])
    """The later messages of the person who started the run, in their own words."""
    models: list[str] = field(default_factory=list[str])
    """The models that answered, by the provider's names, in the order of their first answers."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None as soon as the price of one call is unknown."""
    spent_usd: float = 0.0
    """The cost of the calls with a known price; limits count this."""
    largest: dict[str, int] = field(default_factory=dict[str, int])
    """The tokens of the largest exchange with each model, request and answer together."""
    accepted_at: int = 0
    owned_at: int = 0
    """The time at which the present owner took over."""
    owned_before_ms: int = 0
    """How long earlier owners had the run, until their last frames."""
    last_at: int = 0
    parked: e.RunParked | None = None
    """The entry of a parked run; None otherwise."""
    cancelled: e.RunCancelled | None = None
    restored: bool = False
    """Whether the run continues from a backup, and so may have done more than its journal says."""
    attempts: Attempts = field(default_factory=Attempts)
    """The owners in a row without progress that the journal knows: crashed ones, and ones that a store refused."""
    deferrals: int = 0
    """How often in a row no model answered."""
    deferred_ms: int = 0
    """How long the run was deferred for that in total."""
    deferred_why: str = ""
    """The reason of the last deferral, for people."""
    asked: str = ""
    """The model that was asked last (as in `messages.asked_at`); empty when the run's first model is next."""
    asked_at: int = 0
    """The time of that request."""
    apis: dict[str, str] = field(default_factory=dict[str, str])
    """The format in which each model of the run has answered, by its name as in `asked`; the run ends in it."""
    response_ids: dict[str, str] = field(default_factory=dict[str, str])
    """The provider's id of the last answer of each model, by its name as in `asked`; empty if it gave none."""
    waited_ms: int = 0
    """How long the run waited for models that did not answer; no limit counts that time."""
    outcomes: dict[str, e.ToolResult | e.ToolUnknown] = field(default_factory=dict[str, e.ToolResult | e.ToolUnknown])
    """The outcomes of calls, by call id."""
    taken: set[str] = field(default_factory=set[str])
    """The ids of journaled inbox items."""
    locked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The tools and destinations of calls with an unknown outcome."""
    quiet_until: int = 0
    """The end of the quiet time for the calls in doubt; 0 before it began."""
    approvals: Approvals = field(default_factory=Approvals)
    clicks: list[e.ApprovalClicked] = field(default_factory=list[e.ApprovalClicked])
    """The pressed buttons in the order of the journal."""
    intended_at: dict[str, int] = field(default_factory=dict[str, int])
    """The time of the first intent of each tool call, by call id."""
    in_doubt: dict[str, e.ToolCall] = field(default_factory=dict[str, e.ToolCall])
    """The calls with an intent and without an outcome."""
    call_waits_ms: dict[str, int] = field(default_factory=dict[str, int])
    """How long each tool call waited in total because an outside system limited its rate or did not answer."""
    waits: dict[str, e.CallDeferred] = field(default_factory=dict[str, e.CallDeferred])
    """The last wait of each tool call, by call id; `until` is the actual end of a wait that was cut short."""
    asking: dict[str, e.SubagentStarted] = field(default_factory=dict[str, e.SubagentStarted])
    """The subagents that have not answered, by call id."""
    subagents: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The ids of the calls of each subagent, by its name."""
    parent: str = ""
    """For a subagent run, the run that asked for it."""
    depth: int = 0
    """The number of runs above a subagent run."""

    @property
    def children(self) -> dict[str, e.SubagentStarted]:
        """The subagents with their own runs that have not answered, by call id."""
        return {call: started for call, started in self.asking.items() if started.run}

    def reserved(self, but: str = "") -> Slice:
        """Return the limits that are reserved for subagents that have not answered, without the call `but`."""
        others = [one for call, one in self.asking.items() if call != but]
        parts = [one.reserved or Slice(llm_calls=1, tool_calls=0, tokens=0, usd=0.0, minutes=0.0) for one in others]
        return Slice(
            llm_calls=sum(part.llm_calls for part in parts),
            tool_calls=sum(part.tool_calls for part in parts),
            tokens=sum(part.tokens for part in parts),
            usd=sum(part.usd for part in parts),
            minutes=max((part.minutes for part in parts), default=0.0),
        )

    @property
    def stopping(self) -> bool:
        """Whether a person cancelled the run before it was concluded: then it starts nothing but the notice."""
        return self.cancelled is not None and self.concluded is None

    def relevant_cancellation(self, cancelled: e.RunCancelled) -> e.RunCancelled | None:
        """Return the cancellation if it concerns this run, else None."""
        if not cancelled.actor and not cancelled.message:
            return cancelled
        if self.event is None or cancelled.actor not in ("", self.event.actor.id):
            return None
        written = (result.details for result in self.outcomes.values() if isinstance(result, e.ToolResult))
        messages = {self.event.place.get("ts"), *(str((details or {}).get("ts", "")) for details in written)}
        if cancelled.message and cancelled.message not in messages:
            return None
        return cancelled

    @property
    def waiting(self) -> Approval | None:
        """The first approval request without a decision, or None."""
        return undecided(self.approvals)

    @property
    def parked_reason(self) -> str:
        """What a parked run waits for, for people who see lists; may be empty."""
        reason = self.parked and self.parked.reason
        match reason:
            case "rate_limit" | "outage" if wait := max(self.waits.values(), key=lambda one: one.until, default=None):
                return sentence_of(wait)
            case "model" if self.deferred_why:
                return self.deferred_why
            case "approval" if one := self.waiting:
                return f"waits for approval of {one.requested.tool} by {' or '.join(one.requested.by)}"
            case "earlier_run":
                return "waits for an earlier run that does the same"
            case _ if self.children:
                return f"waits for its subagent {next(iter(self.children.values())).name}"
            case "quiet_time":
                return sentence_of_quiet(next((self.waits[call] for call in self.in_doubt if call in self.waits), None))
            case _:
                return ""

    @property
    def private(self) -> bool:
        """Whether the run began in a place that only some people can see; unknown counts as private."""
        if self.started is not None:
            return self.started.private
        if self.event is None:
            return True
        if self.event.private is not None:
            return self.event.private
        match self.outcomes.get(CONTEXT):
            case e.ToolResult(status="ok", details={"private": False}):
                return False
            case _:
                return True

    def owned_ms(self, now: int) -> int:
        """Return how long workers have owned the run, without waits for models that did not answer."""
        owned = self.owned_before_ms
        if self.owned_at:
            owned += max(0, now - self.owned_at)
        return max(0, owned - self.waited_ms)


def project(entries: Iterable[e.Recorded]) -> Progress:
    """Return the progress of a whole journal."""
    state = Progress()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Progress, recorded: e.Recorded) -> None:
    """Add one more entry to the progress, in place."""
    match recorded.entry:
        case e.RunGraded() | e.FeedbackGiven() | e.RunReviewed() as entry:
            follow_ups.fold(state.follow_ups, entry)
            return
        case e.RunAccepted() as accepted:
            _accept(state, recorded.at, accepted)
        case e.RunOwned() | e.RunParked() | e.RunHandedOver() as change:
            _change_owner(state, recorded.at, change)
        case e.RunStarted() as started:
            state.started = started
            _reset_attempts(state)
        case e.LlmResponse() as answer:
            state.apis[state.asked] = answer.api
            state.response_ids[state.asked] = answer.response_id
            _spend(state, answer)
        case e.SubagentStarted() as asked:
            _ask_subagent(state, recorded.at, asked)
        case e.SubagentFinished(call=call) as answer:
            state.asking.pop(call, None)
            _spend(state, answer)
        case e.ToolCall() as intent:
            state.in_doubt[intent.call] = intent
            state.intended_at.setdefault(intent.call, recorded.at)
            state.quiet_until = 0
            # Only what the run does by itself has a slash in its id.
            if not is_own(intent.call) and intent.tool not in BOOKKEEPING:
                state.tool_calls += 1
                state.called[intent.tool] = state.called.get(intent.tool, 0) + 1
        case e.ToolResult() as result:
            state.in_doubt.pop(result.call, None)
            state.outcomes[result.call] = result
            _reset_attempts(state)
        case e.ToolUnknown() as unknown:
            _block_tool(state, unknown)
        case e.CallDeferred() as deferred:
            _defer(state, recorded.at, deferred)
        case e.MessageReceived() | e.RunCancelled() | e.RunRetried() | e.ApprovalClicked() as item:
            _take_item(state, item)
        case e.RunConcluded() | e.RunFinished() | e.RunChecked() as end:
            _end(state, end)
        case e.ApprovalRequested() | e.ApprovalDecided() as change:
            record(state.approvals, change)
            _reset_attempts(state)
        case e.PermitRenewed():
            # A request is about to be sent again, and must land before a later owner looks for its effect.
            state.quiet_until = 0
        case e.ValueRecorded() | e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated():
            pass
        case e.ContextCompacted():
            _reset_attempts(state)
        case e.LlmRequest(params=params):
            state.asked = asked_at(params)
            state.asked_at = recorded.at
        case _:
            assert_never(recorded.entry)
    state.last_at = recorded.at


def _accept(state: Progress, at: int, accepted: e.RunAccepted) -> None:
    state.event = accepted.event
    state.workflow = accepted.workflow
    state.accepted_at = at
    state.parent = accepted.parent
    state.depth = accepted.depth
    state.routes = accepted.routes


def _ask_subagent(state: Progress, at: int, asked: e.SubagentStarted) -> None:
    state.subagents.setdefault(asked.name, set()).add(asked.call)
    state.asking[asked.call] = asked
    if not asked.run:
        state.asked_at = at
    elif asked.resumed:
        _reset_attempts(state)


def _take_item(state: Progress, item: e.MessageReceived | e.RunCancelled | e.RunRetried | e.ApprovalClicked) -> None:
    state.taken.add(item.item)
    match item:
        case e.RunCancelled():
            state.cancelled = state.cancelled or state.relevant_cancellation(item)
        case e.ApprovalClicked():
            state.clicks.append(item)
        case e.RunRetried(restored=restored):
            state.restored = state.restored or restored
        case e.MessageReceived(text=text, by=by):
            if by and state.event is not None and by == state.event.actor.id:
                state.said.append(text)


def _end(state: Progress, end: e.RunConcluded | e.RunFinished | e.RunChecked) -> None:
    match end:
        case e.RunConcluded():
            state.concluded = end
            _reset_attempts(state)
        case e.RunFinished():
            state.finished = end
        case e.RunChecked():
            state.checked = end


def _block_tool(state: Progress, unknown: e.ToolUnknown) -> None:
    call = state.in_doubt.pop(unknown.call, None)
    # Calls of the run itself (answers, notices) block no tool, because no person has to check them.
    if call and not is_own(call.call):
        state.locked.add((call.tool, unknown.destination))
    state.outcomes[unknown.call] = unknown
    _reset_attempts(state)


def _defer(state: Progress, at: int, deferred: e.CallDeferred) -> None:
    if deferred.call in state.in_doubt:
        _defer_tool_call(state, at, deferred)
        return
    if state.asked_at:
        state.waited_ms += max(0, at - state.asked_at)
    if deferred.until:
        state.deferrals += 1
        state.deferred_why = deferred.reason
        state.deferred_ms += max(0, deferred.until - at)
        state.asked = ""
        state.asked_at = 0


def _defer_tool_call(state: Progress, at: int, deferred: e.CallDeferred) -> None:
    call = deferred.call
    state.call_waits_ms[call] = state.call_waits_ms.get(call, 0) + max(0, deferred.until - at)
    state.waits[call] = deferred
    state.deferred_why = deferred.reason
    if not deferred.in_doubt:
        # The call was not made. It counts toward the limits when it is made.
        del state.in_doubt[call]
        state.tool_calls -= not is_own(call)


def _change_owner(state: Progress, at: int, change: e.RunOwned | e.RunParked | e.RunHandedOver) -> None:
    # If another owner took over, the earlier one crashed after its last frame. Otherwise it leaves in good order now.
    taken_over = isinstance(change, e.RunOwned)
    if state.owned_at:
        until = at
        if taken_over:
            until = state.last_at
            state.attempts = replace(state.attempts, crashed=state.attempts.crashed + 1)
        state.owned_before_ms += max(0, until - state.owned_at)
    state.owned_at = 0
    state.parked = None
    if isinstance(change, e.RunParked):
        state.parked = change
    match change:
        case e.RunOwned():
            state.owned_at = at
            _end_waits(state, at)
        case e.RunParked(reason="quiet_time", until=quiet_until):
            # Waiting for requests of a crashed owner is no progress.
            state.quiet_until = quiet_until
        case e.RunHandedOver(reason="interrupted"):
            # A call whose workers all stop in its middle may be what stops them.
            crashed = state.attempts.crashed + bool(state.in_doubt)
            state.attempts = replace(state.attempts, crashed=crashed, unstored=state.attempts.unstored + 1)
        case e.RunParked() | e.RunHandedOver():
            _reset_attempts(state)


def _end_waits(state: Progress, at: int) -> None:
    """End all waits at `at`; a wait that was cut short counts for its actual length."""
    for call, deferred in state.waits.items():
        if deferred.until > at:
            state.call_waits_ms[call] -= deferred.until - at
            state.waits[call] = replace(deferred, until=at)


def _reset_attempts(state: Progress) -> None:
    """Note progress: the next owner is not at the same point again."""
    state.attempts = Attempts()


def _spend(state: Progress, response: e.LlmResponse | e.SubagentFinished) -> None:
    if isinstance(response, e.SubagentFinished):
        state.llm_calls += response.llm_calls
        state.tool_calls += response.tool_calls
        state.locked |= {(one[0], one[1]) for one in response.locked if len(one) == 2}
    else:
        state.llm_calls += 1
    if response.model and response.model not in state.models:
        state.models.append(response.model)
    state.deferrals = 0
    state.deferred_ms = 0
    _reset_attempts(state)
    state.usage = state.usage.plus(response.usage)
    for one in _exchanged(response):
        state.largest[one.model] = max(one.tokens, state.largest.get(one.model, 0))
    state.spent_usd += response.known_usd
    if state.cost_usd is not None and response.cost_usd is not None:
        state.cost_usd += response.cost_usd
    else:
        state.cost_usd = None


def _exchanged(response: e.LlmResponse | e.SubagentFinished) -> Sequence[Exchanged]:
    """Return the largest exchanges of a response. The usage of an agent is a sum over many, and so is no exchange."""
    if isinstance(response, e.SubagentFinished) and response.run:
        return response.largest
    return (Exchanged(response.model, response.usage.input_tokens + response.usage.output_tokens),)
