"""The results that the script of a run got so far, and gets again when it runs from its beginning."""

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
    """The recorded calls of a script, by their ids. `Progress` has the outcomes of tools."""

    effects: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """The calls that had, or may have had, an effect outside."""
    answers: dict[str, SubagentFinished] = field(default_factory=dict[str, SubagentFinished])
    values: dict[str, object] = field(default_factory=dict[str, object])
    refused: int = 0
    """The number of calls that were refused before they were made."""
    files: dict[str, list[FileAdded]] = field(default_factory=dict[str, list[FileAdded]])
    """The files that each call returned; under the empty id, the files from before the script began."""
    unassigned: list[FileAdded] = field(default_factory=list[FileAdded])
    """Files whose call has no result yet; the result follows right after them."""


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
            # The effects of the subagent count as effects of the run.
            arguments: dict[str, object] = {"prompt": asked.prompt, "files": list(asked.files)}
            state.effects[call] = ToolCall(call, f"subagent.{asked.name}", "keyed", arguments)
        case SubagentFinished(call=call) as finished:
            state.answers[call] = finished
        case ValueRecorded(call=call, value=value):
            state.values[call] = value
        case _:
            pass


def _follow_files(state: Replay, entry: Entry) -> None:
    match entry:
        case FileAdded():
            state.unassigned.append(entry)
        case ToolResult(call=call) | ToolUnknown(call=call):
            # Files that the run fetches for a subagent are not returned to the script.
            if is_of_a_script(call):
                state.files.setdefault(call, []).extend(state.unassigned)
            elif not call.startswith(f"{SUBAGENT_FILE}/"):
                state.files.setdefault("", []).extend(state.unassigned)
            state.unassigned = []
        case MessageReceived():
            state.files.setdefault("", []).extend(state.unassigned)
            state.unassigned = []
        case _:
            pass


def is_of_a_script(call: str) -> bool:
    """Return whether an id belongs to a call of a script, and not to a call of the run about such a call."""
    return call.startswith(("0:", "0."))
