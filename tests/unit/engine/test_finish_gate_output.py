"""Workflows with an `output`: explanations for the model, and how their runs end."""

import json

import pytest

from gofer.engine.loop import Ending
from gofer.journal.entries import LlmResponse, MessageReceived
from gofer.models.language_model import Answer
from gofer.runtime.deliver import conclude
from support.engine.memory_run import PROVENANCE, MemoryRun, coordinate, memory_run, says

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}


def typed(*answers: Answer) -> MemoryRun:
    made = memory_run(*answers)
    made.output = SCHEMA
    made.tool("look", "read")
    return made


async def run(made: MemoryRun) -> Ending:
    step = await made.step()
    step.note(MessageReceived("please"))
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    step.note(conclude(ending, step.progress, step.services.tools))
    await step.commit()
    return ending


async def test_typed_answer_of_the_required_form_becomes_a_value() -> None:
    made = typed(says('```json\n{"size": 3, "why": "a`b"}\n```'))
    ending = await run(made)
    assert (ending.status, ending.output) == ("done", {"size": 3, "why": "a`b"})
    assert ending.answer == "- **Size:** 3\n- **Why:** a`b"
    (concluded,) = [item.entry for item in await made.journal() if hasattr(item.entry, "output")]
    assert concluded.output == {"size": 3, "why": "a`b"}


async def test_malformed_typed_answer_is_explained_and_may_be_repeated() -> None:
    made = typed(says("Three."), says('{"size": "3"}'), says("", ("look", {})), says('{"size": 3}'))
    assert (await run(made)).output == {"size": 3}
    messages = [message["content"] for message in json.loads(made.model.requests[-1])["messages"] if message["content"]]
    assert "it is not JSON" in messages[3]
    assert "size: '3' is not of type 'integer'" in messages[5]


async def test_explanation_of_a_malformed_answer_is_in_the_frame_of_the_answer() -> None:
    made = typed(says("Three."), says('{"size": 3}'))
    await run(made)
    journal = await made.journal()
    frames = {item.n: [type(other.entry) for other in journal if other.n == item.n] for item in journal}
    assert any(kinds[:2] == [LlmResponse, MessageReceived] for kinds in frames.values())


async def test_three_malformed_answers_in_a_row_fail_the_run() -> None:
    made = typed(says("One."), says("{}"), says("Three."), says('{"size": 3}'))
    ending = await run(made)
    assert (ending.status, ending.output) == ("failed", None)
    assert "three" not in ending.answer
    assert "the `output` schema of its workflow" in ending.reason
    assert len(made.model.requests) == 3


async def test_tool_call_between_malformed_answers_restarts_the_count() -> None:
    made = typed(says("One."), says("Two."), says("", ("look", {})), says("Three."), says("Four."), says('{"size": 3}'))
    assert (await run(made)).status == "done"
