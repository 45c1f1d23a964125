"""The trace of a run with its subagents: steps, costs and reasons, also where a journal is corrupt."""

import re
from collections.abc import Sequence

import pytest

from gofer.journal.child_runs import SubagentJournals, read_subagents
from gofer.journal.entries import (
    CallDeferred,
    Entry,
    FileAdded,
    LlmRequest,
    LlmResponse,
    ParkReason,
    Recorded,
    RunAccepted,
    RunOwned,
    RunParked,
    ToolCall,
    ToolResult,
)
from gofer.journal.lineage import child_of
from gofer.models.language_model import Answer
from gofer.projections.tracing.outline import outline
from gofer.projections.tracing.whole_trace import whole_trace
from gofer.values.messages import ToolAsk, Usage
from gofer.workflows.schema import Limits
from support.engine.memory_run import says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents
from support.stand_ins import mention

pytestmark = pytest.mark.anyio
MIDDLE = ("subagent", {"agent_name": "middle", "prompt": "go"})
DEEP = ("subagent", {"agent_name": "deep", "prompt": "go"})


def think(asked: Asked) -> Answer:
    match asked.system, asked.turn:
        case "You are deep.", _:
            return says("", ("look", {"text": str(asked.turn)}))
        case "You are middle.", 0:
            return says("", DEEP)
        case "You are middle.", _:
            return says("So far.")
        case _, 0:
            return says("", MIDDLE, ("subagent", {"agent_name": "nobody", "prompt": "go"}))
        case _:
            return says("Done.")


async def worked() -> RunWithSubagents:
    memory_run = run_with_subagents(think)
    memory_run.tool("look", "read")
    memory_run.subagent("deep", tools="inherit", limits={"llm_calls": 2})
    memory_run.subagent("middle", tools="inherit", subagents=["deep"])
    memory_run.listed, memory_run.limits = ("middle",), Limits(llm_calls=30)
    await memory_run.resume()
    return memory_run


async def lines_of(memory_run: RunWithSubagents) -> list[str]:
    """Return a line of `gofer trace` for each span, without times."""
    journal = await memory_run.journal()
    spans = whole_trace(journal, await read_subagents(journal, memory_run.store, memory_run.blobs))
    return joined(outline("run1", spans))


def joined(lines: Sequence[str]) -> list[str]:
    """Return one line for each span: lines without a time continue the line before."""
    spans: list[str] = []
    for line in lines[1:]:
        if re.match(r" +\d+\.\d{3} s  ", line):
            spans.append(line[15:])
        else:
            spans[-1] += f"; {line.strip()}"
    return spans


async def test_outline_nests_each_step_under_the_caller_with_the_cost() -> None:
    lines = await lines_of(await worked())
    depths = [(len(line) - len(line.lstrip())) // 2 for line in lines]
    names = [line.split()[1:3] for line in lines]
    assert [(depth, " ".join(name).removesuffix(" ok")) for depth, name in zip(depths, names, strict=True)] == [
        (0, "answer-here running"),
        (1, "chat m"),
        (2, "subagent middle"),
        (3, "chat m"),
        (4, "subagent deep"),
        (5, "chat m"),
        (6, "look"),
        (5, "chat m"),
        (6, "look"),
        (3, "chat m"),
        (2, "subagent error"),
        (1, "chat m"),
    ]
    (middle,) = [line for line in lines if "subagent middle" in line]
    assert "40 in" in middle
    assert "USD" in middle


async def test_outline_gives_the_reason_of_a_stopped_and_of_a_missing_subagent() -> None:
    lines = await lines_of(await worked())
    (deep,) = [line for line in lines if "subagent deep" in line]
    assert deep.endswith("USD; stopped after 2 model calls")
    (nobody,) = [line for line in lines if "subagent  " in line]
    assert nobody.endswith("no_such_subagent")


async def test_unreadable_subagent_is_marked_in_the_outline_and_the_rest_is_shown() -> None:
    memory_run = await worked()
    run = child_of(child_of("run1", "1.0"), "1.0")
    frames = memory_run.store._frames[run]
    frames[1] = frames[1][:-1] + bytes([frames[1][-1] ^ 1])
    lines = await lines_of(memory_run)
    (deep,) = [line for line in lines if "subagent deep" in line]
    assert f"Run {run} is damaged" in deep
    assert "20 in" in deep
    assert sum("chat m" in line for line in lines) == 4


@pytest.mark.parametrize(
    ("why", "waits"),
    [("model", "The model could not be reached."), ("earlier_run", "waits for an earlier run that does the same")],
)
async def test_outline_shows_the_reason_of_a_parked_run(why: ParkReason, waits: str) -> None:
    wait = CallDeferred("model", "The model could not be reached.", 9_000)
    entries = [RunAccepted(mention(), "w"), RunOwned(), wait, RunParked(why, 9_000)]
    journal = [Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, start=1)]
    run, wait_line = joined(outline("run1", whole_trace(journal, SubagentJournals())))
    assert "… w" in run
    assert "… wait for" in wait_line
    assert wait_line.endswith(f"until 1970-01-01T00:00:09.000Z: {waits}")
    resumed = [*journal, Recorded(5, 0, 5, "me", RunOwned())]
    assert waits not in outline("run1", whole_trace(resumed, SubagentJournals()))[2]


def test_files_of_calls_made_at_once_follow_their_own_call() -> None:
    asks = (ToolAsk("a", "look", "{}"), ToolAsk("b", "look", "{}"))
    entries: list[Entry] = [
        RunAccepted(mention(), "w"),
        LlmRequest("1.0", "ab", {"model": "m"}, ""),
        LlmResponse("", asks, "tool_calls", "m", Usage(), 0.0, 1),
        ToolCall("1.0", "look", "read"),
        ToolCall("1.1", "look", "read"),
        FileAdded("file_1", "a", "text/plain", 1, "x"),
        ToolResult("1.1", "ok", ""),
        FileAdded("file_0", "a", "text/plain", 1, "x"),
        ToolResult("1.0", "ok", ""),
    ]
    journal = [Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, start=1)]
    spans = whole_trace(journal, SubagentJournals())
    assert [span.id for span in spans] == ["run", "llm/1", "1.0", "file/2", "1.1", "file/1"]
