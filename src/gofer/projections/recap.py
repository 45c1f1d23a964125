"""The recap of an earlier run for the run that continues its conversation."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.entries import LlmResponse, Recorded, RunFinished, ToolResult, ToolUnknown
from gofer.journal.workspace_entries import FileAdded
from gofer.projections import read_addresses, workspace
from gofer.values.addresses import Live, with_inert
from gofer.values.canonical_json import indented
from gofer.values.messages import ToolAsk, resolved_call

ARGUMENTS_LIMIT = 300
RESULT_LIMIT = 1_500
RECAP_LIMIT = 10_000
"""The most characters of the arguments of a call, of a result, and of the recap, which keeps the newest results."""

MOST_FILES = 100
"""The most files that the next run inherits; the newest are kept."""


def recap(run: str, journal: Sequence[Recorded]) -> str:
    """Return the calls, results and end of a run as a section of the first message of the next run."""
    read = read_addresses.project(journal).read
    # In the next run the recap counts as read, so an address that the model wrote must not stand whole in it.
    results = [with_inert(line, Live(read.__contains__)) for line in _results(journal)]
    kept: list[str] = []
    for line in reversed(results):
        if sum(map(len, kept)) + len(line) > RECAP_LIMIT:
            kept.append(f"({len(results) - len(kept)} earlier results are left out.)")
            break
        kept.append(line)
    head = f"You were at work in this thread before (run {run[:8]}, which ended: {_ending(journal)})."
    if not kept:
        return head
    return "\n".join([head, "Tools it called, and what they gave then:", *reversed(kept)])


def inherited_files(run: str, journal: Sequence[Recorded]) -> Sequence[FileAdded]:
    """Return the newest files of a run for the next run; fetched content stays with the run that stores it."""
    files: list[FileAdded] = []
    for file in list(workspace.project(journal).files.values())[-MOST_FILES:]:
        storing_run = ""
        if file.fetched:
            storing_run = file.added.run or run
        files.append(replace(file.added, run=storing_run, preloaded=False))
    return files


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
                arguments = _cut(ask.arguments, ARGUMENTS_LIMIT)
                lines.append("\n".join([f"- {ask.tool} {arguments}", *indented(_cut(text, RESULT_LIMIT))]))
            case _:
                pass
    return lines


def _ending(journal: Sequence[Recorded]) -> str:
    for recorded in reversed(journal):
        if isinstance(recorded.entry, RunFinished):
            if recorded.entry.reason:
                return f"{recorded.entry.status}, {recorded.entry.reason}"
            return recorded.entry.status
    return "not yet"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [cut]"
