"""The comparison of a replayed entry with the recorded one.

An entry has up to three groups of fields. What the run decided must be equal: calls, arguments, codes, statuses, plans,
answers. What a model reads must be equal too: the source context, requests, results, answers of subagents, files. Only
sentences that code writes for people may differ. Times, durations, owners and the names of stored bodies have no
meaning here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Literal, assert_never, cast

from gofer.journal import entries as e
from gofer.journal.approval_entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.purposes import COMPACTION, CONTEXT, is_own
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded
from gofer.projections.calls import without_signatures
from gofer.replay.entry_keys import kind_of

Meaning = Mapping[str, object]
"""Fields of an entry as JSON."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an entry that are compared, in three groups."""

    decided: Meaning = field(default_factory=dict[str, object])
    """The decisions of the run."""
    read: Meaning = field(default_factory=dict[str, object])
    """The contents that a model reads."""
    written: Meaning = field(default_factory=dict[str, object])
    """The sentences of code that only people read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two entries."""

    kind: Literal["reworded", "read", "different"]
    field: str
    original: object
    replayed: object


def difference(original: e.Entry, replayed: e.Entry) -> Difference | None:
    """Return the first difference that counts; None for equal entries."""
    if type(original) is not type(replayed):
        return Difference("different", "kind", kind_of(original), kind_of(replayed))
    before = fields_of(original)
    after = fields_of(replayed)
    if found := _first(before.decided, after.decided):
        return Difference("different", *found)
    if found := _first(before.read, after.read):
        return Difference("read", *found)
    if found := _first(before.written, after.written):
        return Difference("reworded", *found)
    return None


def fields_of(entry: e.Entry) -> Fields:
    """Return the fields of an entry that are compared."""
    match entry:
        case e.RunStarted(private=private):
            return Fields({"private": private})
        case e.MessageReceived(text=text, code=code, media=media):
            return Fields({"code": code}, {"text": text, "media": [one.media_type for one in media]})
        case e.LlmRequest(params=params, tail=tail, prefix_sha256=prefix):
            return Fields(read={"parameters": params, "messages": prefix, "tail": tail})
        case e.LlmResponse(text=text, tool_calls=asks, finish_reason=finish, model=model):
            calls = [{"tool": ask.tool, "arguments": ask.arguments} for ask in asks]
            return Fields({"calls": calls, "text": text, "finish_reason": finish, "model": model})
        case e.ToolCall() | e.ToolResult() | e.ToolUnknown() | e.CallDeferred():
            return _fields_of_call(entry)
        case e.SubagentStarted(name=name, prompt=prompt, params=params) if entry.call.startswith(f"{COMPACTION}/"):
            return Fields({"name": name}, {"parameters": params, "prompt": prompt})
        case e.SubagentStarted(name=name, prompt=prompt, files=files, writes=writes, params=params):
            decided = {"name": name, "prompt": prompt, "files": [*files], "writes": writes}
            return Fields(decided, {"parameters": params})
        case e.SubagentFinished(status=status, text=text, code=code):
            return Fields({"status": status, "code": code}, {"text": text})
        case FileAdded() | FileRead() | SkillLoaded() | PlanUpdated() | ContextCompacted():
            return _fields_of_workspace(entry)
        case ApprovalRequested(tool=tool, by=by, about=about, arguments_sha256=digest):
            return Fields({"tool": tool, "by": [*by], "about": about, "arguments_sha256": digest})
        case ApprovalDecided(decision=decision, by=by, about=about):
            return Fields({"decision": decision, "by": by, "about": about})
        case e.RunConcluded(status="done", cause=cause, output=output, reason=reason, text=text):
            return Fields(
                {"status": "done", "cause": cause, "output": output, "text": text}, written={"reason": reason}
            )
        case e.RunConcluded(status=status, cause=cause, output=output, reason=reason, text=text):
            decided = {"status": status, "cause": cause, "output": output}
            return Fields(decided, written={"reason": reason, "text": text})
        case e.RunFinished(status=status, cause=cause, reason=reason):
            return Fields({"status": status, "cause": cause}, written={"reason": reason})
        case e.RunParked(reason=reason) | e.RunHandedOver(reason=reason):
            return Fields({"reason": reason})
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
            return Fields()
        case _:
            assert_never(entry)


def _fields_of_call(entry: e.ToolCall | e.ToolResult | e.ToolUnknown | e.CallDeferred) -> Fields:
    match entry:
        case e.ToolCall(call=call, tool=tool, effect=effect, arguments=given):
            arguments = without_signatures(call, given or {})
            decided = {"tool": tool, "effect": effect}
            if not is_own(call):
                return Fields({**decided, "arguments": arguments})
            return Fields({**decided, "arguments": _without_prose(arguments)}, written={"arguments": arguments})
        case e.ToolResult(call=call, status=status, text=text, details=details, value=value):
            code = (details or {}).get("code", "")
            return _with_text(call, {"status": status, "code": code}, {"text": text, "value": value})
        case e.ToolUnknown(call=call, text=text, destination=destination):
            return _with_text(call, {"status": "unknown", "destination": destination}, {"text": text})
        case e.CallDeferred(call=call, cause=cause, system=system, reason=reason):
            return Fields({"call": call, "cause": cause, "system": system}, written={"reason": reason})


def _with_text(call: str, decided: Meaning, texts: Meaning) -> Fields:
    """Return the fields of an outcome. Models read the results of their calls, and the source context."""
    if is_own(call) and call != CONTEXT:
        return Fields(decided, written=texts)
    return Fields(decided, texts)


def _fields_of_workspace(entry: FileAdded | FileRead | SkillLoaded | PlanUpdated | ContextCompacted) -> Fields:
    match entry:
        case FileAdded(name=name, media_type=media_type, origin=origin, file=file, size=size):
            return Fields({"name": name, "media_type": media_type, "origin": origin}, {"file": file, "size": size})
        case FileRead() | SkillLoaded():
            return Fields(asdict(entry))
        case PlanUpdated(todos=todos):
            return Fields({"todos": [asdict(todo) for todo in todos]})
        case ContextCompacted(turns=turns, by=by, summary=summary, file=file):
            return Fields({"turns": [*turns], "by": by}, {"summary": summary, "file": file})


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
