"""The recap of an earlier run for the run that goes on from it."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.entries import LlmResponse, Recorded, RunFinished, ToolResult, ToolUnknown
from gofer.journal.workspace_entries import FileAdded
from gofer.projections import workspace
from gofer.values.messages import ToolAsk, resolved_call

ARGUMENTS_LIMIT = 300
RESULT_LIMIT = 1_500
RECAP_LIMIT = 10_000
"""Characters of one call's arguments, of one result, and of the whole; the newest results are kept."""

HANDLES = 100
"""Files that are passed on; the newest."""


def recap(run: str, journal: Sequence[Recorded]) -> str:
    """What a run looked up and did, and how it ended, as a section of the first message of the run after it."""
    results = _results(journal)
    kept: list[str] = []
    for line in reversed(results):
        if sum(map(len, kept)) + len(line) > RECAP_LIMIT:
            kept.append(f"({len(results) - len(kept)} earlier results are left out.)")
            break
        kept.append(line)
    head = f"You were at work in this thread before (run {run[:8]}, which ended: {_ending(journal)})."
    return "\n".join([head, "Tools it called, and what they gave then:", *reversed(kept)] if kept else [head])


def handles(run: str, journal: Sequence[Recorded]) -> Sequence[FileAdded]:
    """The newest files that a run had, as the one after it has them: what was fetched stays where it is stored."""
    held = [file.added for file in workspace.project(journal).files.values()]
    return [replace(added, run=(added.run or run) if added.body else "", preloaded=False) for added in held[-HANDLES:]]


def _results(journal: Sequence[Recorded]) -> list[str]:
    asks: dict[str, ToolAsk] = {}
    lines: list[str] = []
    turn = 0
    for recorded in journal:
        match recorded.entry:
            case LlmResponse(tool_calls=asked):
                turn += 1
                asks |= {f"{turn}.{index}": resolved_call(ask) for index, ask in enumerate(asked)}
            case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text) if call in asks:
                ask = asks[call]
                said = _cut(ask.arguments, ARGUMENTS_LIMIT)
                lines.append(f"- {ask.tool} {said}\n{_indented(_cut(text, RESULT_LIMIT))}")
            case _:
                pass
    return lines


def _ending(journal: Sequence[Recorded]) -> str:
    for recorded in reversed(journal):
        if isinstance(recorded.entry, RunFinished):
            reason = recorded.entry.reason
            return f"{recorded.entry.status}, {reason}" if reason else recorded.entry.status
    return "not yet"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [cut]"
