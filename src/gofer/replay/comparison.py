"""The comparison of a replayed entry with the recorded one: equal, other words of Gofer, or another step.

What the run decided must be equal: calls, arguments, codes, statuses, files, plans. Words that Gofer itself writes may
differ between two versions. Times, durations, owners and the names of stored bodies have no meaning here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Literal, assert_never, cast

from gofer.journal import entries as e
from gofer.journal.approval_entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.purposes import is_own
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded
from gofer.projections.calls import without_signatures

Meaning = Mapping[str, object]
"""Fields of an entry as JSON."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two entries."""

    kind: Literal["reworded", "different"]
    field: str
    original: object
    replayed: object


def difference(original: e.Entry, replayed: e.Entry) -> Difference | None:
    """Return the first difference that counts; None for equal entries."""
    if type(original) is not type(replayed):
        return Difference("different", "kind", _kind(original), _kind(replayed))
    decided, written = fields_of(original)
    decided_again, written_again = fields_of(replayed)
    if found := _first(decided, decided_again):
        return Difference("different", *found)
    if found := _first(written, written_again):
        return Difference("reworded", *found)
    return None


def fields_of(entry: e.Entry) -> tuple[Meaning, Meaning]:
    """Return the fields that the run decided, and the fields with words that Gofer writes."""
    match entry:
        case e.RunStarted(private=private):
            return {"private": private}, {}
        case e.MessageReceived(text=text, code=code, media=media):
            return {"code": code, "media": [one.media_type for one in media]}, {"text": text}
        case e.LlmRequest(params=params, tail=tail, prefix_sha256=prefix):
            return {"parameters": params}, {"messages": prefix, "tail": tail}
        case e.LlmResponse(text=text, tool_calls=asks, finish_reason=finish, model=model):
            calls = [{"tool": ask.tool, "arguments": ask.arguments} for ask in asks]
            return {"calls": calls, "text": text, "finish_reason": finish, "model": model}, {}
        case e.ToolCall() | e.ToolResult() | e.ToolUnknown() | e.CallDeferred():
            return _fields_of_call(entry)
        case e.SubagentStarted(name=name, prompt=prompt, files=files, writes=writes, params=params):
            return {"name": name, "prompt": prompt, "files": [*files], "writes": writes, "parameters": params}, {}
        case e.SubagentFinished(status=status, text=text, code=code):
            return {"status": status, "code": code}, {"text": text}
        case FileAdded() | FileRead() | SkillLoaded() | PlanUpdated() | ContextCompacted():
            return _fields_of_workspace(entry)
        case ApprovalRequested(tool=tool, by=by, about=about, arguments_sha256=digest):
            return {"tool": tool, "by": [*by], "about": about, "arguments_sha256": digest}, {}
        case ApprovalDecided(decision=decision, by=by, about=about):
            return {"decision": decision, "by": by, "about": about}, {}
        case e.RunConcluded(status=status, cause=cause, output=output, reason=reason, text=text):
            return {"status": status, "cause": cause, "output": output}, {"reason": reason, "text": text}
        case e.RunFinished(status=status, cause=cause, reason=reason):
            return {"status": status, "cause": cause}, {"reason": reason}
        case e.RunParked(reason=reason) | e.RunHandedOver(reason=reason):
            return {"reason": reason}, {}
        case (
            e.RunAccepted()
            | e.RunOwned()
            | e.PermitRenewed()
            | e.ValueRecorded()
            | e.RunCancelled()
            | e.RunRetried()
            | e.RunChecked()
            | e.RunGraded()
            | e.FeedbackGiven()
            | e.RunReviewed()
            | ApprovalClicked()
        ):
            return {}, {}
        case _:
            assert_never(entry)


def _fields_of_call(entry: e.ToolCall | e.ToolResult | e.ToolUnknown | e.CallDeferred) -> tuple[Meaning, Meaning]:
    match entry:
        case e.ToolCall(call=call, tool=tool, effect=effect, arguments=given):
            arguments = without_signatures(call, given or {})
            decided = {"tool": tool, "effect": effect}
            if not is_own(call):
                return {**decided, "arguments": arguments}, {}
            return {**decided, "arguments": _without_prose(arguments)}, {"arguments": arguments}
        case e.ToolResult(status=status, text=text, details=details, value=value):
            code = (details or {}).get("code", "")
            return {"status": status, "code": code}, {"text": text, "value": value}
        case e.ToolUnknown(text=text, destination=destination):
            return {"status": "unknown", "destination": destination}, {"text": text}
        case e.CallDeferred(call=call, cause=cause, system=system, reason=reason):
            return {"call": call, "cause": cause, "system": system}, {"reason": reason}


def _fields_of_workspace(
    entry: FileAdded | FileRead | SkillLoaded | PlanUpdated | ContextCompacted,
) -> tuple[Meaning, Meaning]:
    match entry:
        case FileAdded(name=name, media_type=media_type, origin=origin, file=file, size=size):
            return {"name": name, "media_type": media_type, "origin": origin}, {"file": file, "size": size}
        case FileRead() | SkillLoaded():
            return asdict(entry), {}
        case PlanUpdated(todos=todos):
            return {"todos": [asdict(todo) for todo in todos]}, {}
        case ContextCompacted(turns=turns, by=by, summary=summary, file=file):
            return {"turns": [*turns], "by": by}, {"summary": summary, "file": file}


def _without_prose(value: object) -> object:
    """Return JSON without its texts of more than one word, which Gofer words; names and ids stay."""
    match value:
        case str():
            if " " in value or "\n" in value:
                return "‹words›"
            return value
        case dict():
            return {key: _without_prose(part) for key, part in cast(dict[str, object], value).items()}
        case list() | tuple():
            return [_without_prose(part) for part in cast(Sequence[object], value)]
        case _:
            return value


def _first(original: object, replayed: object) -> tuple[str, object, object] | None:
    """Return the path and the values of the first difference of two JSON values."""
    return next(_differences(original, replayed, ""), None)


def _differences(original: object, replayed: object, path: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(original, Mapping) and isinstance(replayed, Mapping):
        one = cast(Mapping[str, object], original)
        other = cast(Mapping[str, object], replayed)
        for key in {**one, **other}:
            yield from _differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(original, list | tuple) and isinstance(replayed, list | tuple):
        pairs = zip_longest(cast(Sequence[object], original), cast(Sequence[object], replayed))
        for index, (before, after) in enumerate(pairs):
            yield from _differences(before, after, f"{path}[{index}]")
    elif original != replayed:
        yield path, original, replayed


_KINDS = {form: kind for kind, form in e.KINDS.items()}


def _kind(entry: e.Entry) -> str:
    return _KINDS[type(entry)]
