"""What the script of a run was told so far, which it is told again when it runs from its top."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gofer.journal.entries import (
    CallDeferred,
    Entry,
    MessageReceived,
    Recorded,
    SubagentFinished,
    SubagentStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
    ValueRecorded,
)
from gofer.journal.purposes import SUBAGENT_FILE
from gofer.journal.workspace_entries import FileAdded


@dataclass(slots=True)
class Replay:
    """What a journal has of a script's calls, by their ids. The outcomes of tools are those of `Progress`."""

    effects: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Calls that did, or may have done, something outside."""
    answers: dict[str, SubagentFinished] = field(default_factory=dict[str, SubagentFinished])
    values: dict[str, object] = field(default_factory=dict[str, object])
    refused: int = 0
    """How many calls were refused before they happened."""
    files: dict[str, list[FileAdded]] = field(default_factory=dict[str, list[FileAdded]])
    """What each call told of files; under the empty id what was known before the script began."""
    untold: list[FileAdded] = field(default_factory=list[FileAdded])
    """Files whose call has no result yet: that stands right after them."""


def project(entries: Iterable[Recorded]) -> Replay:
    """Return the replay of a whole journal."""
    state = Replay()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Replay, recorded: Recorded) -> None:
    """Add one more entry to the replay, in place."""
    _follow_files(state, recorded.entry)
    match recorded.entry:
        case ToolCall(call=call, effect=effect) as intent if effect != "read" and is_of_a_script(call):
            state.effects[call] = intent
        case CallDeferred(call=call, in_doubt=False):
            state.effects.pop(call, None)
        case ToolResult(call=call, status="refused") if is_of_a_script(call):
            state.refused += 1
        case SubagentStarted(call=call, writes=True) as asked if is_of_a_script(call):
            # What it did outside, the run did.
            said: dict[str, object] = {"prompt": asked.prompt, "files": list(asked.files)}
            state.effects[call] = ToolCall(call, f"subagent.{asked.name}", "keyed", said)
        case SubagentFinished(call=call) as finished:
            state.answers[call] = finished
        case ValueRecorded(call=call, value=value):
            state.values[call] = value
        case _:
            pass


def _follow_files(state: Replay, entry: Entry) -> None:
    match entry:
        case FileAdded():
            state.untold.append(entry)
        case ToolResult(call=call) | ToolUnknown(call=call):
            # What the run fetches for a subagent of the script tells the script nothing.
            if is_of_a_script(call):
                state.files.setdefault(call, []).extend(state.untold)
            elif not call.startswith(f"{SUBAGENT_FILE}/"):
                state.files.setdefault("", []).extend(state.untold)
            state.untold = []
        case MessageReceived():
            state.files.setdefault("", []).extend(state.untold)
            state.untold = []
        case _:
            pass


def is_of_a_script(call: str) -> bool:
    """Whether a call's id is one that a script's calls have; what is done about such a call has another beginning."""
    return call.startswith(("0:", "0."))
