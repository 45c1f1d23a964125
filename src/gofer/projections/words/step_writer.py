"""The writer of steps: turns each entry of a journal into the steps that people read.

The details of a step hold every field of its entry that is not its input, its output or another field of the step, so
that no fact of a journal is missing from its steps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never, cast

from gofer.journal import entries as e
from gofer.journal.codec import to_json
from gofer.projections import calls, progress, states
from gofer.projections.calls import Call
from gofer.projections.progress import Progress
from gofer.projections.requests.context import Snapshot, snapshots
from gofer.projections.requests.sent_requests import SentRequest, sent_requests
from gofer.projections.rules_in_words import Rules
from gofer.projections.states import Transition
from gofer.projections.words.follow_ups import verdict_of
from gofer.projections.words.request_texts import message_count, messages_json, shared_messages
from gofer.projections.words.step_details import (
    SHARE_DIGITS,
    arguments_text,
    checks_of,
    event_details,
    grades_of,
    reasoning,
    todo_line,
    usage_of,
    utilisation,
)
from gofer.projections.words.steps import LONGEST_NAME, ReadJournal, Step, StepKind, cut
from gofer.values.canonical_json import encode_text
from gofer.values.messages import asked_at

_CallEntry = e.ToolCall | e.ToolResult | e.ToolUnknown | e.CallDeferred
_ApprovalEntry = e.ApprovalRequested | e.ApprovalClicked | e.ApprovalDecided
_OtherEntry = (
    e.RunAccepted
    | e.RunOwned
    | e.RunParked
    | e.RunHandedOver
    | e.RunCancelled
    | e.RunRetried
    | e.RunConcluded
    | e.MessageReceived
    | e.FileAdded
    | e.FileRead
    | e.SkillLoaded
    | e.PlanUpdated
    | e.ContextCompacted
    | e.ValueRecorded
    | e.PermitRenewed
)


def steps(root: ReadJournal, subagents: Mapping[str, ReadJournal]) -> Sequence[Step]:
    """Return the steps of a run and of its subagent runs; `subagents` are all their journals, by run."""
    found = _of_journal(root, subagents, 0, {root.run})
    return [replace(step, step=number) for number, step in enumerate(found, start=1)]


def _of_journal(
    journal: ReadJournal, subagents: Mapping[str, ReadJournal], depth: int, shown: set[str]
) -> Iterator[Step]:
    writer = _Writer(journal, depth)
    for recorded in journal.entries:
        yield from writer.of(recorded)
        match recorded.entry:
            case e.SubagentStarted(run=run) if run in subagents and run not in shown:
                shown.add(run)
                yield from _of_journal(subagents[run], subagents, depth + 1, shown)
            case _:
                pass
    if journal.damage:
        yield writer.damage()


@dataclass(slots=True)
class _Writer:
    """The steps of one journal, with the views of the journal that they need."""

    journal: ReadJournal
    depth: int
    calls: Mapping[str, Call] = field(init=False)
    not_made: Mapping[str, Sequence[Call]] = field(init=False)
    """The calls that were asked for and never made, by the entry in which a model asked for them."""
    progress: Progress = field(init=False)
    transitions: Mapping[str, Sequence[Transition]] = field(init=False)
    requests: Mapping[str, SentRequest] = field(init=False)
    contexts: Mapping[str, Snapshot] = field(init=False)
    before: SentRequest | None = None
    """The request before the current entry."""
    deferrals: int = 0
    """The requests since the last answer that no model answered."""
    rules: Rules = field(default_factory=Rules)
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    """The attempts of each call so far."""

    def __post_init__(self) -> None:
        entries = self.journal.entries
        setup = self.journal.setup
        self.calls = calls.project(entries).calls
        for call in self.calls.values():
            # A model may write a name of megabytes. The details of its answer have the complete name.
            call.tool = cut(call.tool, LONGEST_NAME)
        self.not_made = _not_made(self.calls.values())
        self.progress = progress.project(entries)
        self.transitions = _by_address(states.project(entries).transitions)
        self.requests = {}
        self.contexts = {}
        if setup is not None:
            requests = sent_requests(entries, setup.system, setup.tools)
            self.requests = {request.recorded.address: request for request in requests}
            contexts = snapshots(entries, setup.system, setup.tools)
            self.contexts = {context.address: context for context in contexts}

    def of(self, recorded: e.Recorded) -> Iterator[Step]:
        """Yield the steps of one entry, and then the changes of the run's state that it caused."""
        yield from self._of_entry(recorded)
        for transition in self.transitions.get(recorded.address, ()):
            yield self._transition(recorded, transition)

    def damage(self) -> Step:
        """Return the step from which on the journal cannot be read."""
        at = 0
        if self.journal.entries:
            at = self.journal.entries[-1].at
        return Step(0, self.journal.run, self.depth, at, "damage", output=self.journal.damage, status="error")

    def _of_entry(self, recorded: e.Recorded) -> Iterator[Step]:
        match recorded.entry:
            case e.LlmRequest() as request:
                yield from self._request(recorded, request)
            case e.LlmResponse() as response:
                yield from self._response(recorded, response)
            case e.SubagentStarted() | e.SubagentFinished() as entry:
                yield self._subagent(recorded, entry)
            case e.ToolCall() | e.ToolResult() | e.ToolUnknown() | e.CallDeferred() as entry:
                yield self._call(recorded, entry)
            case e.ApprovalRequested() | e.ApprovalClicked() | e.ApprovalDecided() as entry:
                yield self._approval(recorded, entry)
            case e.RunStarted():
                yield self._start(recorded)
            case e.RunFinished() as finished:
                yield self._end(recorded, finished)
            case e.RunChecked():
                pass  # `agent.end` has the verdicts
            case e.RunGraded() as graded:
                yield self._graded(recorded, graded)
            case e.FeedbackGiven() as feedback:
                yield replace(self._plain(recorded, "words"), status=feedback.verdict, output=feedback.words)
            case e.RunReviewed() as review:
                yield replace(self._plain(recorded), status=verdict_of(review))
            case entry:
                yield self._other(recorded, entry)

    def _plain(self, recorded: e.Recorded, *texts: str) -> Step:
        """Return the step of an entry with all fields of the entry but `texts`, and its rule, as its details."""
        fields = {**to_json(recorded.entry), **self.rules.of(recorded.entry)}
        kind = cast(StepKind, fields.pop("kind"))
        details = {name: value for name, value in fields.items() if name not in texts}
        return Step(0, self.journal.run, self.depth, recorded.at, kind, recorded.address, details=details)

    def _bare(self, recorded: e.Recorded, kind: StepKind) -> Step:
        """Return a step of an entry without the fields of the entry, for the second and later steps of an entry."""
        return Step(0, self.journal.run, self.depth, recorded.at, kind, recorded.address)

    def _transition(self, recorded: e.Recorded, transition: Transition) -> Step:
        details = {"from": transition.before, "to": transition.after, "valid": not transition.violation}
        status = "ok"
        if transition.violation:
            status = "violation"
        bare = self._bare(recorded, "state.transition")
        return replace(bare, output=transition.violation, status=status, details=details)

    def _start(self, recorded: e.Recorded) -> Step:
        plain = replace(self._plain(recorded), kind="agent.start")
        setup = self.journal.setup
        if setup is None:
            return plain
        known: dict[str, object] = {
            "workflow": setup.workflow,
            "prompt_file": setup.prompt_file,
            "models": list(setup.models),
            "tools": list(setup.tool_names),
            "tool_schemas": list(setup.tools),
        }
        return replace(plain, input=setup.system, details={**plain.details, **known})

    def _end(self, recorded: e.Recorded, finished: e.RunFinished) -> Step:
        plain = replace(self._plain(recorded, "status"), kind="agent.end", status=finished.status)
        usage = usage_of(self.progress, recorded.at)
        details = {**plain.details, "checks": checks_of(self.progress), "usage": usage}
        return replace(plain, details=details, duration_ms=recorded.at - self.progress.accepted_at)

    def _graded(self, recorded: e.Recorded, graded: e.RunGraded) -> Step:
        plain = replace(self._plain(recorded, "outcome"), status=graded.outcome)
        return replace(plain, details={**plain.details, "grades": grades_of(self.progress)})

    def _request(self, recorded: e.Recorded, entry: e.LlmRequest) -> Iterator[Step]:
        request = self.requests.get(recorded.address)
        plain = self._plain(recorded, "tail", "params", "weights")
        details: dict[str, object] = {
            **plain.details,
            "model": asked_at(entry.params),
            "parameters": {name: value for name, value in entry.params.items() if name != "model"},
            **utilisation(entry),
        }
        plain = replace(plain, input=entry.tail, retries=self.deferrals)
        if request is not None:
            since = shared_messages(self.before, request)
            details |= {"messages": message_count(request), "new_messages": message_count(request) - 1 - since}
            plain = replace(plain, input=messages_json(request, since), sent=request, since=since)
            self.before = request
        yield replace(plain, details=details)
        if context := self.contexts.get(recorded.address):
            yield self._context(recorded, context)

    def _context(self, recorded: e.Recorded, context: Snapshot) -> Step:
        status = "ok"
        if context.problem:
            status = "error"
        bare = replace(self._bare(recorded, "context.snapshot"), status=status, output=context.problem)
        shown = ("window", "expected", "counted", "roles", "pinned", "files", "entered", "left")
        details = {name: getattr(context, name) for name in shown}
        return replace(bare, details={**details, "utilisation": round(context.share, SHARE_DIGITS)})

    def _response(self, recorded: e.Recorded, entry: e.LlmResponse) -> Iterator[Step]:
        thoughts = entry.thoughts or reasoning(entry.extra)
        if thoughts:
            yield replace(self._bare(recorded, "thought"), output=thoughts)
        # Thoughts for the provider are no text for people; the readable ones are a step of their own.
        plain = self._plain(recorded, "text", "thoughts", "extra", "finish_reason", "duration_ms")
        yield replace(
            plain,
            output=entry.text,
            status=entry.finish_reason,
            duration_ms=entry.duration_ms,
            retries=self.deferrals,
        )
        self.deferrals = 0
        for call in self.not_made.get(recorded.address, ()):
            # The journal has no entry `tool.call` of a call that was never made.
            named = replace(self._bare(recorded, "tool.call"), details={"made": False}, status=call.status)
            yield replace(named, tool=call.tool, call=call.id, input=arguments_text(call))

    def _call(self, recorded: e.Recorded, entry: _CallEntry) -> Step:
        plain = self._plain(recorded, "call", "arguments", "tool", "text", "status", "duration_ms")
        call = self.calls.get(entry.call)
        if call is not None:
            plain = replace(plain, tool=call.tool, call=call.id, input=arguments_text(call))
        match entry:
            case e.ToolCall():
                self.attempts[entry.call] = self.attempts.get(entry.call, 0) + 1
                outcome = "open"
                if call is not None and call.ended_in:
                    outcome = call.status
                return replace(plain, tool=entry.tool, status=outcome, retries=self.attempts[entry.call] - 1)
            case e.ToolResult():
                done = replace(plain, output=entry.text, status=entry.status, duration_ms=entry.duration_ms)
                return replace(done, retries=max(0, self.attempts.get(entry.call, 0) - 1))
            case e.ToolUnknown():
                return replace(plain, output=entry.text, status="unknown")
            case e.CallDeferred():
                self.deferrals += entry.call == "model"
                deferred = replace(plain, call=entry.call, output=entry.reason, status="deferred")
                return replace(
                    deferred, details={name: value for name, value in plain.details.items() if name != "reason"}
                )

    def _subagent(self, recorded: e.Recorded, entry: e.SubagentStarted | e.SubagentFinished) -> Step:
        match entry:
            case e.SubagentStarted():
                plain = replace(self._plain(recorded, "call", "prompt"), call=entry.call, input=entry.prompt)
                setup = self.journal.setup
                if entry.run or setup is None:
                    return plain
                # A question has no run, so this is the only step with its system prompt.
                return replace(plain, details={**plain.details, "system": setup.subagents.get(entry.name, "")})
            case e.SubagentFinished():
                plain = self._plain(recorded, "call", "text", "status", "duration_ms")
                done = replace(plain, call=entry.call, output=entry.text, status=entry.status)
                return replace(done, duration_ms=entry.duration_ms)

    def _approval(self, recorded: e.Recorded, entry: _ApprovalEntry) -> Step:
        plain = replace(self._plain(recorded, "call", "tool", "decision"), call=entry.call)
        if call := self.calls.get(entry.call):
            plain = replace(plain, tool=call.tool, input=arguments_text(call))
        match entry:
            case e.ApprovalRequested():
                return replace(plain, tool=entry.tool, status=self._decision_of(entry))
            case e.ApprovalClicked() | e.ApprovalDecided():
                return replace(plain, status=entry.decision)

    def _decision_of(self, requested: e.ApprovalRequested) -> str:
        """Return the decision of an approval; `open` without one."""
        approval = self.progress.approvals.get((requested.about, requested.call))
        if approval is None or approval.decided is None:
            return "open"
        return approval.decided.decision

    def _other(self, recorded: e.Recorded, entry: _OtherEntry) -> Step:
        match entry:
            case e.RunAccepted(event=event):
                return replace(self._plain(recorded), input=event.text, details=event_details(entry))
            case e.MessageReceived(text=text, media=media):
                plain = self._plain(recorded, "text", "media")
                kept = [{"file": one.file, "media_type": one.media_type, "pages": one.pages} for one in media]
                return replace(plain, input=text, details={**plain.details, "media": kept})
            case e.ContextCompacted(summary=summary):
                return replace(self._plain(recorded, "summary"), output=summary)
            case e.PlanUpdated(todos=todos):
                return replace(self._plain(recorded, "todos"), output="\n".join(map(todo_line, todos)))
            case e.ValueRecorded(value=value):
                return replace(self._plain(recorded, "value"), output=encode_text(value))
            case e.FileAdded(name=name):
                return replace(self._plain(recorded, "name"), output=name)
            case e.RunConcluded(text=text, status=status):
                return replace(self._plain(recorded, "text", "status"), output=text, status=status)
            case e.RunParked(reason=reason) | e.RunHandedOver(reason=reason):
                return replace(self._plain(recorded, "reason"), status=reason)
            case e.RunOwned():
                return replace(self._plain(recorded), details={"owner": recorded.owner})
            case e.FileRead() | e.SkillLoaded() | e.PermitRenewed() | e.RunCancelled() | e.RunRetried():
                return self._plain(recorded)
            case _:
                assert_never(entry)


def _not_made(every: Iterable[Call]) -> Mapping[str, Sequence[Call]]:
    found: dict[str, list[Call]] = {}
    for call in every:
        if call.asked_in and not call.began_in:
            found.setdefault(call.asked_in, []).append(call)
    return found


def _by_address(transitions: Iterable[Transition]) -> Mapping[str, Sequence[Transition]]:
    found: dict[str, list[Transition]] = {}
    for transition in transitions:
        found.setdefault(transition.address, []).append(transition)
    return found
