"""The place of an entry in a replay: the key of its counterpart, whatever the order of branches, and its part there."""

from collections.abc import Sequence
from typing import assert_never, get_args

from gofer.journal import entries as e
from gofer.journal.approval_entries import About, ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.purposes import is_added, is_own
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded

_KINDS = {form: kind for kind, form in e.KINDS.items()}
Key = tuple[str, str]
"""The sort of an entry, and the call or object that it is about. Equal keys are matched in their order."""


def outcome_key(call: str) -> Key:
    """Return the key of the outcome of a tool call."""
    return "outcome", call


def deferred_key(call: str) -> Key:
    """Return the key of the deferral of a call."""
    return "deferred", call


def intent_keys(call: str) -> Sequence[Key]:
    """Return the keys of the intents of a call; `model` is the question to the model of a run."""
    if call == "model":
        return [("llm.request", "")]
    return [("tool.call", call), ("subagent.started", call)]


def approval_keys(call: str) -> Sequence[Key]:
    """Return the keys of the requests for the approval of a call, and of the decisions."""
    sorts = ("approval.requested", "approval.decided")
    return [(sort, f"{about}/{call}") for sort in sorts for about in get_args(About)]


def answer_key(request: e.Entry) -> Key:
    """Return the key of the answer to a request to a model."""
    if isinstance(request, e.SubagentStarted):
        return "subagent.finished", request.call
    return "llm.response", ""


def key_of(entry: e.Entry) -> Key:
    """Return the key of an entry."""
    match entry:
        case e.ToolCall(call=call):
            return "tool.call", call
        case e.ToolResult(call=call) | e.ToolUnknown(call=call):
            return outcome_key(call)
        case e.CallDeferred(call=call):
            return deferred_key(call)
        case e.SubagentStarted(call=call):
            return "subagent.started", call
        case e.SubagentFinished(call=call):
            return "subagent.finished", call
        case e.ValueRecorded(call=call):
            return "value", call
        case FileAdded(name=name, origin=origin):
            return "file.added", f"{origin}/{name}"
        case FileRead(file=file):
            return "file.read", file
        case SkillLoaded(skill=skill, file=file):
            return "skill.loaded", f"{skill}/{file}"
        case ApprovalRequested(call=call, about=about):
            return "approval.requested", f"{about}/{call}"
        case ApprovalDecided(call=call, about=about):
            return "approval.decided", f"{about}/{call}"
        case e.LlmRequest():
            return "llm.request", ""
        case e.LlmResponse():
            return "llm.response", ""
        case e.MessageReceived(item=item):
            return "message", item
        case (
            e.RunAccepted()
            | e.RunOwned()
            | e.RunStarted()
            | e.PermitRenewed()
            | e.RunParked()
            | e.RunHandedOver()
            | e.RunCancelled()
            | e.RunRetried()
            | e.RunConcluded()
            | e.RunFinished()
            | e.RunChecked()
            | e.RunGraded()
            | e.FeedbackGiven()
            | e.RunReviewed()
            | ApprovalClicked()
            | PlanUpdated()
            | ContextCompacted()
        ):
            return type(entry).__name__, ""
        case _:
            assert_never(entry)


def is_item(entry: e.Entry) -> bool:
    """Return whether an entry came from the inbox of the run."""
    match entry:
        case e.MessageReceived(item=item):
            return bool(item)
        case e.RunCancelled() | e.RunRetried() | ApprovalClicked():
            return True
        case _:
            return False


def is_incidental(entry: e.Entry) -> bool:
    """Return whether an entry depends on time and machines only, so that replay takes it from the recording."""
    match entry:
        case e.PermitRenewed() | e.RunHandedOver(reason="interrupted"):
            return True
        case _:
            return is_item(entry)


def is_of_added(entry: e.Entry) -> bool:
    """Return whether an entry is one of a call that Gofer adds to inform people."""
    return is_added(getattr(entry, "call", ""))


def follows_from_time(entry: e.Entry) -> bool:
    """Return whether an entry depends on time or chance, so that the recorded one counts."""
    return isinstance(entry, e.ValueRecorded | e.RunChecked | e.RunOwned)


def is_fact(entry: e.Entry) -> bool:
    """Return whether an entry is a fact that a call found before its outcome."""
    return isinstance(entry, FileAdded | FileRead | SkillLoaded | PlanUpdated)


def is_shown_media(entry: e.Entry) -> bool:
    """Return whether an entry is the message with the images of the result before it."""
    return isinstance(entry, e.MessageReceived) and bool(entry.media) and not entry.item and not entry.code


def kind_of(entry: e.Entry) -> str:
    """Return the kind of an entry as journals name it."""
    return _KINDS[type(entry)]


def step_of(entry: e.Entry) -> str:
    """Return the kind of an entry, and the call that it is about."""
    call = getattr(entry, "call", "")
    return f"{kind_of(entry)} {call}".rstrip()


def is_of_a_check(entry: e.Entry | None) -> bool:
    """Return whether an entry is a step that comes before a call, such as its approval."""
    match entry:
        case e.ToolCall() | ApprovalRequested() | ApprovalDecided():
            return True
        case e.ToolResult(call=call) | e.ToolUnknown(call=call) | e.CallDeferred(call=call):
            return is_own(call)
        case _:
            return False
