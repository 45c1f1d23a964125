"""A story of one run whose window fills: a plan, skills, files, an image, summaries, and messages meanwhile."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from gofer.engine.own_step import OwnStep
from gofer.files.child import Children
from gofer.journal import inbox
from gofer.journal.entries import (
    FeedbackGiven,
    MessageReceived,
    Recorded,
    RunCancelled,
    RunConcluded,
    RunFinished,
    RunGraded,
    RunRetried,
    RunReviewed,
)
from gofer.journal.grade_entries import Grade
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
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, says
from support.models.served import served

REPORT = NewFile("report.txt", "text/plain", None, "Slack", 9_000, {"tool": "fetch", "arguments": {"text": "F1"}})
SKILLS = {"tables": Skill("tables", "How tables look.", "Three columns at most.", {"wide.md": b"Turn them."})}
PLAN = [{"id": "1", "description": "read"}, {"id": "2", "description": "say"}]


GRADES = (
    Grade("status", passed=True),
    Grade("tools.forbidden", passed=False, expected="no call of post", happened="post was called", step="4.1"),
    Grade("judge.short", passed=False, blocks=False, score=0.5, explanation="two of four votes"),
)
GRADED = RunGraded("window/full", 1, "failed", "scripted", "b" * 64, GRADES)
FEEDBACK = FeedbackGiven("bad", "U1", "Ada", "The table is missing.", "reaction", "thumbsdown", "feedback-1")
REVIEW = RunReviewed(
    effective=False,
    why="The answer has no table.",
    next_step="Write the table.",
    goal_drift=True,
    drift="It drew pictures.",
    model="small",
    fingerprint="fp_1",
    input_tokens=900,
    output_tokens=40,
    usd=0.0004,
    prompt_sha256="c" * 64,
    item="review",
)


def todo(status: str, **more: str) -> tuple[str, dict[str, object]]:
    """Return the call that changes the first item of the plan."""
    return "todo_update", {"id": "1", "status": status, **more}


ANSWERS = [
    says("", ("todo_write", {"todos": PLAN})),
    says("", ("find", {}), ("load_skills", {"names": ["tables"]}), todo("in_progress")),
    says("", ("file_read", {"file": REPORT.id, "end_line": 3}), ("draw", {"text": "1"}), ("flood", {"text": "a"})),
    says("", ("call_tool", {"name": "flood", "arguments": {"text": "b"}}), ("post", {"text": "x"}), ("draw", {})),
    says("too early"),
    says("", ("post", "{"), ("fly", {})),
    *(says("", ("flood", {"text": f"{n}"}), ("flood", {"text": f"{n} again"})) for n in range(4)),
    says("", ("load_skills", {"names": ["tables"]}), ("load_subskill", {"skill": "tables", "file": "wide.md"})),
    says("", ("tool_search", {"query": "post"}), ("call_tool", {"name": "post", "arguments": {"text": "y"}})),
    says("", todo("completed"), ("todo_update", {"id": "2", "status": "blocked", "needs": "a budget"})),
    says("", ("finish", {"answer": "Here it is."})),
]
"""What the model says, in order; a request for a summary gets one between them."""


@dataclass
class WindowStory:
    """The journal of the story and the requests that its model got."""

    journal: Sequence[Recorded]
    questions: Sequence[bytes]


@dataclass
class Narrator:
    """A model that gives the next answer of the story."""

    left: list[Answer] = field(default_factory=lambda: list(ANSWERS))
    questions: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Answer a request."""
        self.questions.append(body)
        tail = str(json.loads(body)["messages"][-1]["content"])
        answer = says("What was needed.") if "too long for its window" in tail else self.left.pop(0)
        return Answer(answer.text, answer.asks, answer.finish, "m", Usage(len(body) // 3, 5, 0))


async def played() -> WindowStory:
    """Play the story in memory."""
    model = Narrator()
    made = _furnished(model)
    step = await made.step()
    step.note(MessageReceived("please"))
    await step.commit()
    await _say(made, "by the way", "1-said")
    await inbox.put(made.store, "run1", "2-retried", RunRetried("an operator"))
    ending = await coordinate(step, _bundle(made), PROVENANCE)
    await _end(made, step, RunConcluded(ending.status, ending.reason, ending.answer))
    step.note(GRADED)
    step.note(FEEDBACK)
    step.note(REVIEW)
    await step.commit()
    return WindowStory(await made.journal(), model.questions)


async def _say(made: MemoryRun, text: str, item: str) -> None:
    await inbox.put(made.store, "run1", item, MessageReceived(text))


async def _end(made: MemoryRun, step: OwnStep, concluded: RunConcluded) -> None:
    """Write the end of the run, after a cancel request that came too late."""
    await inbox.put(made.store, "run1", "3-cancelled", RunCancelled("Ada"))
    await step.take_inbox()
    step.note(concluded)
    step.note(RunFinished(concluded.status))
    await step.commit()


def _furnished(model: Narrator) -> MemoryRun:
    made = MemoryRun(model, {})  # type: ignore[arg-type]

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
    made.tool("fetch", "read", fetch)
    others = (
        *bind_all(FILE_TOOLS, Children()),
        *bind_all((*PLAN_TOOLS, *SKILL_TOOLS, *SEARCH_TOOLS), None),
    )
    made.tools |= {tool.name: tool for tool in others}
    return made


def _bundle(made: MemoryRun) -> Bundle:
    given = {"description": "d", "owner": "#o", "when": ["slack.mention"], "search_above": 2}
    listed = ("find", "draw", "flood", "post")
    limits = Limits(llm_calls=200, tool_calls=500, tokens=10**9, usd=10**6, minutes=600)
    workflow = Workflow.model_validate({**given, "tools": listed, "limits": limits, "context": Context(window=8_000)})
    loaded = Loaded("answer-here", workflow, "You tell.", "p.md", served("m"), skills=SKILLS)
    return made.services().new_bundle(loaded)
