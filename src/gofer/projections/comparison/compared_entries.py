"""The entries of a run as two runs are compared: what each means, without what differs between any two runs.

Owners, leases, permits, parking, times, durations, token counts and generated ids have no meaning here. The requests to
a model count by their parameters, because their messages follow from earlier entries. Outcomes of calls that were made
together are in the order of the calls, not in that of their arrival.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import assert_never, cast

from gofer.journal import entries as e
from gofer.journal.approval_entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.purposes import is_own
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded
from gofer.projections.calls import without_signatures
from gofer.projections.comparison.generated_names import SHORT
from gofer.projections.script_replay import is_of_a_script
from gofer.values.messages import ToolAsk, arguments, asked_at, resolved_call, sent

MOST_NAMES = 100
"""The most generated names that one outcome adds."""
_LEAST = 5
"""The fewest characters of a generated name in an outcome."""
_LONG_ID = 16
"""The fewest characters of an identity of an event that no person gave."""
_KINDS = {form: kind for kind, form in e.KINDS.items()}


@dataclass(frozen=True, slots=True)
class ComparedEntry:
    """One entry of a run, as it is compared."""

    address: str
    kind: str
    """The kind of the entry, such as `tool.result`."""
    call: str
    """The id of the call that it is about; empty for other entries."""
    tool: str
    """The tool of the call, if the journal names it."""
    meaning: Mapping[str, object]
    """What counts, as JSON."""
    names: tuple[str, ...] = ()
    """The names that the run generated here."""


def compared_entries(run: str, journal: Sequence[e.Recorded]) -> Sequence[ComparedEntry]:
    """Return the entries of a run that count, in the order in which they are compared."""
    ordered: list[ComparedEntry] = []
    group: list[ComparedEntry] = []
    for one in _Reading(run).read(journal):
        if _ends_a_group(one):
            ordered += sorted(group, key=_place)
            ordered.append(one)
            group = []
        else:
            group.append(one)
    return [*ordered, *sorted(group, key=_place)]


def _ends_a_group(one: ComparedEntry) -> bool:
    return one.kind in ("run.accepted", "run.started", "llm.request", "llm.response", "run.concluded", "run.finished")


def _place(one: ComparedEntry) -> tuple[int, int, str]:
    """Return the place of an entry among those between two requests: own calls, the calls in their order, the rest."""
    if not one.call or one.call == "model":
        return 2, 0, ""
    if is_own(one.call):
        return 0, 0, ""
    if is_of_a_script(one.call):
        return 1, 0, one.call.partition(":")[0]
    return 1, int(one.call.rpartition(".")[2] or 0), ""


@dataclass(slots=True)
class _Reading:
    """The reading of one journal: the tools of the calls so far, and facts about a call that is not known yet."""

    run: str
    turn: int = 0
    tools: dict[str, tuple[str, e.Effect]] = field(default_factory=dict[str, tuple[str, e.Effect]])
    facts: list[ComparedEntry] = field(default_factory=list[ComparedEntry])
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The intents and subagents that were yielded. Another owner may repeat them."""

    def read(self, journal: Sequence[e.Recorded]) -> Iterator[ComparedEntry]:
        """Yield the entries that count. Facts about files, skills and the plan belong to the outcome that follows."""
        for recorded in journal:
            self._learn_tools(recorded.entry)
            one = self._compared(recorded)
            if one is None or self._is_repeated(one):
                continue
            if isinstance(recorded.entry, FileAdded | FileRead | SkillLoaded | PlanUpdated):
                self.facts.append(one)
                continue
            for fact in self.facts:
                yield replace(fact, call=one.call, tool=one.tool)
            self.facts = []
            yield one
        yield from self.facts

    def _learn_tools(self, entry: e.Entry) -> None:
        match entry:
            case e.LlmResponse(tool_calls=asks):
                self.turn += 1
                for index, ask in enumerate(asks):
                    self.tools[f"{self.turn}.{index}"] = resolved_call(ask).tool, "read"
            case e.ToolCall(call=call, tool=tool, effect=effect):
                self.tools[call] = tool, effect
            case _:
                pass

    def _is_repeated(self, one: ComparedEntry) -> bool:
        if one.kind not in ("tool.call", "subagent.started"):
            return False
        key = one.kind, one.call
        repeated = key in self.seen
        self.seen.add(key)
        return repeated

    def _compared(self, recorded: e.Recorded) -> ComparedEntry | None:
        meaning = _meaning(recorded.entry)
        if meaning is None:
            return None
        call = getattr(recorded.entry, "call", "")
        tool, effect = self.tools.get(call, ("", "read"))
        return ComparedEntry(
            address=recorded.address,
            kind=_KINDS[type(recorded.entry)],
            call=call,
            tool=tool,
            meaning=_without_empty({"call": _purpose(call), "tool": tool, **meaning}),
            names=tuple(_names(self.run, recorded.entry, effect)),
        )


def _without_empty(meaning: Mapping[str, object]) -> Mapping[str, object]:
    return {name: value for name, value in meaning.items() if value not in ("", None, [], {}, ())}


def _purpose(call: str) -> str:
    """Return the part of a call id that is the same in every run of the same work."""
    if is_own(call):
        return call.partition("/")[0]
    if is_of_a_script(call):
        return ":".join(call.split(":")[:2])
    return call


def _meaning(entry: e.Entry) -> Mapping[str, object] | None:
    """Return what counts of an entry, as JSON; None for an entry that never counts."""
    match entry:
        case e.RunAccepted() | e.RunStarted() | e.MessageReceived():
            return _meaning_of_beginning(entry)
        case e.LlmRequest(params=params):
            return {**sent(params), "model": asked_at(params)}
        case e.LlmResponse(text=text, tool_calls=asks, finish_reason=finish, model=model):
            return {"text": text, "calls": [_ask(ask) for ask in asks], "finish_reason": finish, "model": model}
        case e.ToolCall() | e.ToolResult() | e.ToolUnknown() | e.CallDeferred():
            return _meaning_of_call(entry)
        case e.SubagentStarted(name=name, prompt=prompt, files=files, writes=writes):
            return {"name": name, "prompt": prompt, "files": list(files), "writes": writes}
        case e.SubagentFinished(status=status, text=text, code=code):
            return {"status": status, "text": text, "code": code}
        case e.ValueRecorded():
            return {}
        case FileAdded() | FileRead() | SkillLoaded() | PlanUpdated() | ContextCompacted():
            return _meaning_of_workspace(entry)
        case ApprovalRequested(tool=tool, by=by, about=about):
            return {"asked_for": tool, "by": list(by), "about": about}
        case ApprovalDecided(decision=decision, by=by, about=about):
            return {"decision": decision, "by": by, "about": about}
        case e.RunCancelled(by=by) | e.RunRetried(by=by):
            return {"by": by}
        case e.RunConcluded(status=status, reason=reason, text=text, output=output):
            return {"status": status, "reason": reason, "text": text, "output": output}
        case e.RunFinished(status=status, reason=reason):
            return {"status": status, "reason": reason}
        case e.RunOwned() | e.PermitRenewed() | e.RunParked() | e.RunHandedOver() | ApprovalClicked():
            return None
        case e.RunChecked() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed():
            return None
        case _:
            assert_never(entry)


def _meaning_of_beginning(entry: e.RunAccepted | e.RunStarted | e.MessageReceived) -> Mapping[str, object]:
    match entry:
        case e.RunAccepted(event=event, workflow=workflow):
            return {
                "workflow": workflow,
                "event": event.kind,
                "text": event.text,
                "actor": event.actor.id,
                "place": dict(event.place),
                "facts": dict(event.facts),
            }
        case e.RunStarted(private=private, continues=earlier):
            return {"private": private, "continues_another_run": bool(earlier)}
        case e.MessageReceived(text=text, code=code, media=media):
            return {"text": text, "code": code, "media": [f"{one.file} ({one.media_type})" for one in media]}


def _meaning_of_call(entry: e.ToolCall | e.ToolResult | e.ToolUnknown | e.CallDeferred) -> Mapping[str, object]:
    match entry:
        case e.ToolCall(call=call, effect=effect, arguments=given):
            return {"effect": effect, "arguments": without_signatures(call, given or {})}
        case e.ToolResult(status=status, text=text, value=value):
            return {"status": status, "text": text, "value": value}
        case e.ToolUnknown(text=text, destination=destination):
            return {"status": "unknown", "text": text, "destination": destination}
        case e.CallDeferred(cause=cause, system=system, provider_error=error):
            failure = ""
            if error is not None:
                failure = error.failure
            return {"cause": cause, "system": system, "failure": failure}


def _meaning_of_workspace(
    entry: FileAdded | FileRead | SkillLoaded | PlanUpdated | ContextCompacted,
) -> Mapping[str, object]:
    match entry:
        case FileAdded(file=file, name=name, media_type=media_type, size=size, origin=origin):
            return {"file": file, "name": name, "type": media_type, "size": size, "origin": origin}
        case FileRead() | SkillLoaded():
            return asdict(entry)
        case PlanUpdated(todos=todos):
            return {"todos": [asdict(todo) for todo in todos]}
        case ContextCompacted(summary=summary, turns=turns, by=by):
            return {"summary": summary, "turns": list(turns), "by": by}


def _ask(ask: ToolAsk) -> Mapping[str, object]:
    """Return a call of a model as JSON, however the model formatted its arguments."""
    asked = resolved_call(ask)
    try:
        return {"tool": asked.tool, "arguments": arguments(asked.arguments)}
    except ValueError:
        return {"tool": asked.tool, "arguments": asked.arguments}


def _names(run: str, entry: e.Entry, effect: e.Effect) -> Iterator[str]:
    """Yield the names that a run generates with an entry: ids of runs and files, and the ids of what it wrote."""
    match entry:
        case e.RunAccepted(event=event):
            yield from (run, run[:SHORT], event.digest)
            yield from (part for part in event.identity if part.isdecimal() or len(part) >= _LONG_ID)
        case e.RunStarted(continues=earlier) if earlier:
            yield from (earlier, earlier[:SHORT])
        case e.SubagentStarted(run=child) if child:
            yield child
        case FileAdded(file=file):
            yield file
        case e.ToolResult(status="ok", details=details, value=value) if effect != "read":
            yield from islice(_ids([details, value]), MOST_NAMES)
        case _:
            pass


def _ids(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value that have the form of an id."""
    match value:
        case str():
            if len(value) >= _LEAST and " " not in value and any(map(str.isdecimal, value)):
                yield value
        case dict():
            for part in cast(dict[str, object], value).values():
                yield from _ids(part)
        case list() | tuple():
            for part in cast(list[object], value):
                yield from _ids(part)
        case _:
            pass
