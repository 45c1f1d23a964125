"""Long runs for tests of the context window: a model that knows only its request, and pages to read."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gofer.engine.loop import Ending
from gofer.files.child import Children
from gofer.journal.entries import MessageReceived
from gofer.journal.workspace_entries import ContextCompacted
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, ToolResult
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.values.messages import Usage
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Context, Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says
from support.models.served import served

Messages = Sequence[Mapping[str, Any]]


class ReadingModel:
    """A model that knows only its request. It counts a token per `per_token` bytes."""

    def __init__(self, decide: Callable[[Messages], Answer], per_token: int = 4) -> None:
        self.decide, self.bodies, self.per_token = decide, list[bytes](), per_token

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        answer = self.decide(json.loads(body)["messages"])
        return Answer(
            answer.text,
            answer.asks,
            answer.finish,
            json.loads(body)["model"],
            Usage(len(body) // self.per_token, 10, 0),
        )


def is_asked_to_sum_up(messages: Messages) -> bool:
    return "too long for its window" in str(messages[-1]["content"])


async def run(
    made: MemoryRun,
    model: ReadingModel,
    window: int = 16_000,
    llm_calls: int = 2_000,
    tools: Sequence[str] = ("look",),
    more: str = "",
    models: tuple[str, ...] = ("m",),
    children: Children | None = None,
    offered: bool = True,
) -> Ending:
    made.model = model  # type: ignore[assignment]
    made.tools |= {
        tool.name: tool for tool in (*bind_all(FILE_TOOLS, children or Children()), *bind_all(PLAN_TOOLS, None))
    }
    limits = Limits(llm_calls=llm_calls, tool_calls=5_000, tokens=10**9, usd=10**6, minutes=600)
    given = {"description": "d", "owner": "#o", "when": ["slack.mention"], "tools": [*tools]}
    workflow = Workflow.model_validate({**given, "limits": limits, "context": Context(window=window)})
    loaded = Loaded("answer-here", workflow, "You add numbers.", "p.md", served(*models))
    step = await made.step()
    step.note(MessageReceived(f"Add the numbers of all pages.{more}"))
    schemas = [tool.schema() for tool in step.services.granted(workflow).values()]
    bundle = Bundle(loaded, schemas if offered else [])
    ending = await coordinate(step, bundle, PROVENANCE)
    await step.commit()
    return ending


async def compactions(made: MemoryRun) -> list[ContextCompacted]:
    return [item.entry for item in await made.journal() if isinstance(item.entry, ContextCompacted)]


def pages(size: int) -> MemoryRun:
    made = memory_run()

    async def look(call: Call, said: Said) -> ToolResult:
        number = int(said.text)
        return ToolResult(f"Page {number} has the number {number * 7}. {'word ' * size}", "a page")

    made.tool("look", "read", look)
    return made


def adder(last: int, sum_up: Callable[[int, int], str]) -> Callable[[Messages], Answer]:
    """Return a model that reads pages and adds their numbers, from the summary and the results after it."""

    def decide(messages: Messages) -> Answer:
        text = "\n".join(str(message["content"]) for message in messages[:-1])
        known = re.findall(r"SUM (\d+) THROUGH PAGE (\d+)", text)
        total, through = map(int, known[-1]) if known else (0, 0)
        for page, number in re.findall(r"Page (\d+) has the number (\d+)", text):
            if int(page) == through + 1:
                total, through = total + int(number), through + 1
        if is_asked_to_sum_up(messages):
            return says(sum_up(total, through))
        return says(f"The sum is {total}.") if through >= last else says("", ("look", {"text": str(through + 1)}))

    return decide
