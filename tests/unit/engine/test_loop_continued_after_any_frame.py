"""A run with files, skills, a plan, pictures and compactions that another owner continues after any frame."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gofer.engine.loop import Ending
from gofer.engine.own_step import OwnStep
from gofer.engine.tail import tail
from gofer.files.child import Children
from gofer.journal.entries import LlmRequest, LlmResponse, MessageReceived, Recorded
from gofer.journal.entries import ToolResult as Outcome
from gofer.journal.workspace_entries import ContextCompacted, FileAdded
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, NewFile, ToolResult
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.tools.search import TOOLS as SEARCH_TOOLS
from gofer.tools.skills import TOOLS as SKILL_TOOLS
from gofer.values.messages import Media, Usage
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Context, Limits
from gofer.workflows.skill import Skill
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.models.served import served

pytestmark = pytest.mark.anyio
REPORT = NewFile("report.txt", "text/plain", None, "Slack", 9_000, {"tool": "fetch", "arguments": {"text": "F1"}})
SKILLS = {"tables": Skill("tables", "How tables look.", "Three columns at most.", {"wide.md": b"Turn them."})}
Messages = Sequence[Mapping[str, Any]]


def todo(status: str, **more: str) -> tuple[str, dict[str, object]]:
    return "todo_update", {"id": "1", "status": status, **more}


STORY = [
    says("", ("todo_write", {"todos": [{"id": "1", "description": "read"}, {"id": "2", "description": "say"}]})),
    says("", ("find", {}), ("load_skills", {"names": ["tables"]}), todo("in_progress")),
    says("", ("file_read", {"file": REPORT.id, "end_line": 3}), ("draw", {"text": "1"}), ("flood", {"text": "a"})),
    says("", ("call_tool", {"name": "flood", "arguments": {"text": "b"}}), ("post", {"text": "x"}), ("draw", {})),
    says("too early"),
    *(says("", ("flood", {"text": f"{n}"}), ("flood", {"text": f"{n} again"})) for n in range(8)),
    says("", ("load_skills", {"names": ["tables"]}), ("load_subskill", {"skill": "tables", "file": "wide.md"})),
    says("", ("call_tool", {"name": "post", "arguments": {"text": "y"}}), todo("completed")),
    says("", ("todo_update", {"id": "2", "status": "blocked", "needs": "a budget"})),
    says("", ("finish", {"answer": "Here it is."})),
]


@dataclass
class Narrator:
    """A model that continues the story at the current turn of the journal."""

    step: OwnStep | None = None
    bodies: list[bytes] = field(default_factory=list[bytes])

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        messages: Messages = json.loads(body)["messages"]
        assert self.step is not None
        summing = "too long for its window" in str(messages[-1]["content"])
        answer = says("What was needed.") if summing else STORY[self.step.conversation.turn]
        return Answer(answer.text, answer.asks, answer.finish, "m", Usage(len(body) // 3, 5, 0))


def furnished() -> tuple[MemoryRun, Bundle]:
    made = memory_run()

    async def find(call: Call, said: Said) -> ToolResult:
        return ToolResult("found one", "one file", files=(REPORT,))

    async def fetch(call: Call, said: Said) -> ToolResult:
        return ToolResult("", "", files=(NewFile("r", "text/plain", b"one\ntwo\nthree\nfour\n" * 400, "Slack"),))

    async def draw(call: Call, said: Said) -> ToolResult:
        file = NewFile("chart.png", "image/png", f"a picture {said.text}".encode(), "draw")
        media = Media(file.id, "image/png", base64.b64encode(b"a picture").decode())
        return ToolResult(f"drew {file.id}", "drew", files=(file,), media=(media,))

    async def flood(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"{said.text}: " + "word " * 1_500, "a lot")

    for name, act in (("find", find), ("draw", draw), ("flood", flood)):
        made.tool(name, "read", act)
    made.tool("post", "keyed")
    listed = tuple(made.tools)
    made.tool("fetch", "read", fetch)
    others = (
        *bind_all(FILE_TOOLS, Children()),
        *bind_all((*PLAN_TOOLS, *SKILL_TOOLS, *SEARCH_TOOLS), None),
    )
    made.tools |= {tool.name: tool for tool in others}
    given = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": listed, "search_above": 2}
    limits = Limits(llm_calls=200, tool_calls=500, tokens=10**9, usd=10**6, minutes=600)
    workflow = Workflow.model_validate({**given, "limits": limits, "context": Context(window=8_000)})
    loaded = Loaded("answer-here", workflow, "You tell.", "p.md", served("m"), skills=SKILLS)
    return made, made.services().new_bundle(loaded)


async def tell(made: MemoryRun, bundle: Bundle, owner: str = "me") -> Ending:
    model = Narrator()
    made.model = model  # type: ignore[assignment]
    model.step = step = await made.step(owner)
    if not step.conversation.parts:
        step.note(MessageReceived("please"))
    ending = await coordinate(step, bundle, PROVENANCE)
    await step.commit()
    return ending


def answered(journal: Sequence[Recorded]) -> list[tuple[str, str]]:
    """Return the prefix hash and the tail of every answered request, in order."""
    found, last = list[tuple[str, str]](), ("", "")
    for recorded in journal:
        match recorded.entry:
            case LlmRequest(prefix_sha256=prefix, tail=tail):
                last = prefix, tail
            case LlmResponse():
                found.append(last)
            case _:
                pass
    return found


async def test_run_cut_after_any_frame_sends_equal_requests_and_ends_equally() -> None:
    made, bundle = furnished()
    whole = await tell(made, bundle)
    requests = answered(await made.journal())
    assert whole.answer.startswith("Here it is.")
    assert sum(isinstance(one.entry, ContextCompacted) for one in await made.journal()) > 1
    frames, key = list(await made.store.frames("run1")), await made.store.key("run1")
    assert key is not None
    for length in range(2, len(frames)):
        again, bundle = furnished()
        again.blobs = made.blobs
        await again.store.claim("run1", frames[0], key)
        for n, frame in enumerate(frames[1:length], start=2):
            await again.store.create("run1", n, frame)
        assert await tell(again, bundle, "second") == whole
        assert answered(await again.journal()) == requests, f"cut after frame {length}"


async def test_skill_that_left_the_window_is_shown_again_when_loaded_again() -> None:
    made, bundle = furnished()
    await tell(made, bundle)
    shown = [one.entry.text for one in await made.journal() if isinstance(one.entry, Outcome)]
    assert sum("Three columns at most." in text for text in shown) == 2
    assert not any("is already in this conversation" in text for text in shown)


async def test_preloaded_file_is_not_listed_as_shown_after_the_first_message_left() -> None:
    made = memory_run()
    step = await made.step()
    step.note(FileAdded("file_1", "a.txt", "text/plain", 5, "Slack", body="b", preloaded=True))
    step.note(MessageReceived("please"))
    for turn in range(2):
        step.note(LlmResponse(f"{turn}", (), "stop", "m", Usage(1, 1, 0), None, 1))
    stays, leaves = (ContextCompacted("s", "history_1", first, 1, (1, 1), "model") for first in (1, 0))
    step.note(stays)
    assert "shown whole in the first message" in tail(step.progress, step.workspace, made.limits)
    step.note(leaves)
    assert "shown whole" not in tail(step.progress, step.workspace, made.limits)
