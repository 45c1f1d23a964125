"""Runs with a small window, long results and subagents, for the simulation."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Tool
from gofer.tools.files.read import file_read, peek_file
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.tools.subagent import TOOLS as SUBAGENT_TOOLS
from gofer.values.messages import ToolAsk, Usage
from gofer.workflows.schema import Context, Files, Subagent, SubagentLimits
from gofer.workflows.subagent import LoadedSubagent
from support.models.served import served

LONG = "long "
"""What the words of a search begin with that gives more than is shown whole."""
_LINES = 70
_VIEW = {"files": Files(whole_tokens=500, preview_tokens=450), "context": Context(window=4_000, compact_at=45)}
_SYSTEM = "Help with it."
HELPER = LoadedSubagent(
    Subagent(
        description="d",
        tools="inherit",
        limits=SubagentLimits(minutes=10**6, tokens=10**9, llm_calls=20),
        **_VIEW,  # type: ignore[arg-type]
    ),
    _SYSTEM,
    served("m", "n"),
)
"""A subagent in a run of its own, with the permissions of the parent run."""

Arguments = Callable[[str, str], Mapping[str, object]]
"""What a call is made with, from some words and the newest file."""


def _words(words: str, file: str) -> Mapping[str, object]:
    return {"text": words}


def _long(words: str, file: str) -> Mapping[str, object]:
    return {"text": LONG + words}


def _file(words: str, file: str) -> Mapping[str, object]:
    return {"file": file, "start_line": 1 + int(words) % _LINES}


def _helper(words: str, file: str) -> Mapping[str, object]:
    return {"agent_name": "s", "prompt": words, "files": [file] if file else []}


def _written(words: str, file: str) -> Mapping[str, object]:
    return {"todos": [{"id": "1", "description": words, "status": "in_progress"}]}


def _done(words: str, file: str) -> Mapping[str, object]:
    return {"id": "1", "status": "completed"}


Turn = Sequence[tuple[str, Arguments]]
TURNS: Sequence[Turn] = (
    (("todo_write", _written), ("search", _long)),
    (("subagent", _helper), ("subagent", _helper)),
    (("file_read", _file), ("ticket", _words), ("todo_update", _done)),
)
"""What a run asks for, turn by turn."""
BELOW: Sequence[Turn] = (
    (("search", _long), ("ticket", _words)),
    (("file_read", _file), ("page", _words), ("mail", _words)),
)
"""What its subagents ask for."""


def delegating(workflow: Workflow) -> Workflow:
    """Return the workflow of such runs."""
    return workflow.model_copy(update={**_VIEW, "subagents": ("s",)})


def base_tools() -> dict[str, Tool]:
    """Return the further tools of such runs."""
    return {tool.name: tool for tool in bind_all((file_read, peek_file, *PLAN_TOOLS, *SUBAGENT_TOOLS), None)}


def given(name: str, words: str) -> str:
    """Return the result of a call."""
    text = f"{name} {words}"
    return "\n".join(f"{text} {line}" for line in range(_LINES)) if words.startswith(LONG) else text


def answer(request: Mapping[str, object], tokens: int, words: Callable[[], str]) -> Answer:
    """Return the answer of a model that knows its progress from the request alone."""
    messages = [(str(one["role"]), str(one.get("content"))) for one in request["messages"]]  # type: ignore[index,attr-defined]
    usage = Usage(tokens, 20, 0)
    turns, last = BELOW if messages[0][1] == _SYSTEM else TURNS, messages[-1][1]
    turn = _turn(messages)
    if last.startswith("[Gofer, by code] The conversation has become too long"):
        return Answer(f"turn {turn}", (), "stop", "m", usage)
    if turn >= len(turns) or "tools" not in request:
        said = given("said", LONG + words()) if turns is BELOW else f"Done in {turn} turns."
        return Answer(said, (), "stop", "m", usage)
    file = (re.findall(r"^- (result_\w+)", last, re.MULTILINE) or [""])[-1]
    asks = [ToolAsk(f"c{turn}{n}", tool, json.dumps(make(words(), file))) for n, (tool, make) in enumerate(turns[turn])]
    return Answer("", tuple(asks), "tool_calls", "m", usage)


def _turn(messages: Sequence[tuple[str, str]]) -> int:
    """Return the number of answers so far: those counted by a summary, and those since."""
    told = [
        int(found) for role, text in messages if role == "user" for found in re.findall(r"^turn (\d+)$", text, re.M)
    ]
    return max(told, default=0) + sum(role == "assistant" for role, _ in messages)
