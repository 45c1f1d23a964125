"""Plays of a case for tests of grades: journals that are written by hand, entry by entry."""

from collections.abc import Mapping, Sequence
from typing import Any

from gofer.evals.plays import Play, PlayedTurn
from gofer.evals.results import Grade
from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import Entry, Recorded
from gofer.projections import progress
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values.canonical_json import encode_text
from gofer.values.messages import ToolAsk, Usage
from gofer.values.visible import Visible
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from support.models.served import served
from support.stand_ins import mention

TOOLS = ("slack_read_thread", "jira_search", "jira_create_issue", "slack_post_message")
BASE_TOOLS = ("todo_write", "file_read", "finish")
ACCEPTED = e.RunAccepted(mention(), "file-ticket")
STARTED = e.RunStarted("hash of the bundle", private=False)
BEGIN: Sequence[Sequence[Entry]] = ([ACCEPTED], [e.RunOwned()], [STARTED])


def recorded(*frames: Sequence[Entry]) -> list[Recorded]:
    """Return the entries of frames that are a second apart."""
    return [
        Recorded(n, i, n * 1000, "owner", entry) for n, frame in enumerate(frames, 1) for i, entry in enumerate(frame)
    ]


def asks(*calls: tuple[str, object], text: str = "", ms: int = 100, usd: float | None = 0.01) -> e.LlmResponse:
    """Return an answer of the model with calls, as (tool, arguments)."""
    made = tuple(
        ToolAsk(f"id{at}", tool, arguments if isinstance(arguments, str) else encode_text(arguments))
        for at, (tool, arguments) in enumerate(calls)
    )
    return e.LlmResponse(text, made, "tool_calls" if made else "stop", "model-1", Usage(100, 10, 5), usd, ms)


def made(call: str, tool: str, status: str = "ok", text: str = "", code: str = "", ms: int = 10) -> list[Entry]:
    """Return the entries of a permitted call with its outcome."""
    begun = e.ToolCall(call, tool, "read" if "read" in tool or "search" in tool else "keyed")
    if status == "unknown":
        return [begun, e.ToolUnknown(call, text)]
    return [begun, e.ToolResult(call, status, text, details={"code": code} if code else None, duration_ms=ms)]  # type: ignore[arg-type]


def refused(call: str, code: str = "unknown_tool") -> list[Entry]:
    """Return the entry of a call that a gate refused."""
    return [e.ToolResult(call, "refused", "There is no such tool.", details={"code": code})]


def ended(
    text: str = "Done.",
    status: str = "done",
    reason: str = "",
    output: Mapping[str, object] | None = None,
    verdicts: Sequence[Verdict] | None = None,
) -> list[Entry]:
    """Return the entries of the end of a run, with verdicts if there are any."""
    end: list[Entry] = [e.RunConcluded(status, reason, text, output), e.RunFinished(status, reason)]  # type: ignore[arg-type]
    if verdicts is not None:
        end.append(e.RunChecked(tuple(verdicts)))
    return end


def bundle(tools: Sequence[str] = TOOLS, **keys: Any) -> Bundle:
    """Return the bundle of a workflow with these tools; `keys` are those of its file."""
    fields: dict[str, object] = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": list(tools)}
    workflow = Workflow.model_validate(fields | keys)
    loaded = Loaded("file-ticket", workflow, "You file tickets.", "agents/file-ticket.md", served("model-1"))
    return Bundle(loaded, [{"function": {"name": name}} for name in (*BASE_TOOLS, *tools)])


def played_turn(*frames: Sequence[Entry], run: str = "run1", **fields: Any) -> PlayedTurn:
    """Return one turn whose journal has the begin of a run and then these frames."""
    entries = recorded(*BEGIN, *frames)
    values: dict[str, Any] = {"bundle": bundle()} | fields
    return PlayedTurn(run, entries, progress.project(entries), **values)


def play_of(*turns: PlayedTurn, **fields: Any) -> Play:
    """Return the play of these turns."""
    values: dict[str, Any] = {"world": {}, "evidence": "scripted", "latency_ms": 1_200} | fields
    return Play(turns, **values)


def played(*frames: Sequence[Entry], **fields: Any) -> Play:
    """Return the play of one turn with these frames after the begin of its run."""
    return play_of(played_turn(*frames), **fields)


def seen(text: str, kind: str = "message") -> Visible:
    """Return something that a person saw."""
    return Visible(kind, "/slack/C1/1", text)  # type: ignore[arg-type]


def failures(grades: Sequence[Grade], dimension: str) -> list[tuple[str, str, str]]:
    """Return what was expected, what happened and the step of each failed grade of a dimension.

    The dimension must have been graded.
    """
    found = [grade for grade in grades if grade.dimension == dimension]
    assert found, f"{dimension} was not graded"
    return [(grade.expected, grade.happened, grade.step) for grade in found if not grade.passed]
