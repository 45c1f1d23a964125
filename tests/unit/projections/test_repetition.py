"""Repetition: when a model that repeats itself is stopped, and when it is not."""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import MessageReceived
from gofer.journal.entries import ToolResult as Outcome
from gofer.models.language_model import Answer
from gofer.runtime.deliver import answer_text
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, ToolResult
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.workflows.schema import Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, coordinate, memory_run, says

pytestmark = pytest.mark.anyio

ENDLESS = Limits(llm_calls=100_000, tool_calls=100_000, tokens=10**9, usd=10**6, minutes=10**6)
LOOK = ("look", {"text": "1"})
PLAN = ("todo_write", {"todos": [{"id": "1", "description": "look"}, {"id": "2", "description": "tell"}]})
CALLS = [LOOK, ("look", {"text": "2"}), ("post", {"text": "1"}), ("fly", {}), ("look", "{")]
PLANS = [
    PLAN,
    *[("todo_update", {"id": one, "status": status}) for one in "12" for status in ("pending", "in_progress")],
]
turns = st.lists(st.sampled_from([*CALLS, *PLANS]), max_size=3)


@dataclass
class Parrot:
    """A model that repeats the same answers in the same order forever."""

    answers: list[Answer]
    asked: int = 0
    requests: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked += 1
        assert self.asked < 1_000
        return self.answers[self.asked % len(self.answers)]


def endless(*answers: Answer) -> MemoryRun:
    made = memory_run(*answers)
    made.limits = ENDLESS
    made.tool("look", "read")
    made.tool("post", "keyed")
    return made


async def refusals(made: MemoryRun) -> list[str]:
    entries = [item.entry for item in await made.journal()]
    return [entry.text for entry in entries if isinstance(entry, Outcome) and entry.status == "refused"]


async def test_third_identical_tool_call_is_refused_with_a_hint() -> None:
    again = ("look", '{ "text" : "1" }')
    made = endless(says("", LOOK), says("", again), says("", LOOK), says("", ("look", {"text": "2"})), says("Done."))
    assert (await made.run()).status == "done"
    assert made.acted == ["look:1", "look:1", "look:2"]
    (refused,) = await refusals(made)
    assert "look returned the same for these arguments 2 times" in refused


async def test_new_result_allows_an_identical_tool_call_again() -> None:
    other = ("look", {"text": "2"})
    made = endless(says("", LOOK), says("", LOOK), says("", other), says("", LOOK), says("Done."))
    await made.run()
    assert made.acted == ["look:1", "look:1", "look:2", "look:1"]


async def test_new_message_allows_an_identical_tool_call_again() -> None:
    made = endless(says("", LOOK), says("", LOOK), says("One."), says("", LOOK), says("Two."))
    assert (await made.run()).answer == "One."
    step = await made.step()
    step.note(MessageReceived("look once more", "item1"))
    assert (await coordinate(step, made.bundle(), PROVENANCE)).answer == "Two."
    assert len(made.acted) == 3


async def test_unchanged_plan_does_not_allow_an_identical_tool_call_again() -> None:
    plan = ("todo_write", {"todos": [{"id": "1", "description": "look", "status": "completed"}]})
    made = endless(*[says("", plan, LOOK)] * 20)
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    ending = await made.run()
    assert (ending.status, len(made.acted)) == ("limited", 3)


async def test_changed_plan_allows_an_identical_tool_call_again() -> None:
    def plan(status: str) -> tuple[str, dict[str, object]]:
        return "todo_write", {"todos": [{"id": "1", "description": "look", "status": status}]}

    made = endless(*(says("", LOOK, plan(status)) for status in ("pending", "in_progress", "completed")), says("d"))
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    assert (await made.run()).status == "done"
    assert len(made.acted) == 3


async def test_model_that_only_toggles_a_plan_is_refused_and_then_stopped() -> None:
    to_and_fro = [says("", ("todo_update", {"id": "1", "status": status})) for status in ("in_progress", "pending")]
    made = endless(says("", PLAN), *to_and_fro * 20)
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    assert (await made.run()).status == "limited"
    assert len(made.model.requests) < 12
    first = (await refusals(made))[0]
    assert first.startswith(
        "Not called: todo_update returned the same for these arguments 2 times, with nothing new since"
    )


UNCHANGED = {
    "same arguments": PLAN,
    "defaults written out": (
        "todo_write",
        {
            "todos": [
                {"id": one, "description": text, "status": "pending"} for one, text in (("1", "look"), ("2", "tell"))
            ]
        },
    ),
    "update without a change": ("todo_update", {"id": "1", "status": "pending"}),
}


@pytest.mark.parametrize("again", UNCHANGED.values(), ids=list(UNCHANGED))
async def test_plan_rewritten_without_a_change_is_refused_at_once(again: tuple[str, dict[str, object]]) -> None:
    made = endless(says("", PLAN), says("", again), says("Done."), says("Done."), says("Done."))
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    await made.run()
    (text,) = await refusals(made)
    assert text.startswith("Not called: your plan is exactly this already")


@pytest.mark.parametrize("between", [LOOK, ("todo_update", {"id": "1", "status": "in_progress"})])
async def test_plan_may_be_written_again_after_another_call_or_a_change(between: tuple[str, dict[str, object]]) -> None:
    made = endless(says("", PLAN), says("", between), says("", PLAN), *[says("Done.")] * 3)
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    await made.run()
    assert await refusals(made) == []


async def test_plan_changes_are_not_refused_while_tools_return_new_results() -> None:
    def move(status: str, n: int) -> Answer:
        return says("", ("todo_update", {"id": "1", "status": status}), ("look", {"text": f"{n}"}))

    moves = [move("in_progress" if n % 2 else "pending", n) for n in range(1, 30)]
    made = endless(says("", PLAN), *moves, *[says("No.")] * 3)
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    await made.run()
    assert len(made.acted) == 29
    assert [text for text in await refusals(made) if "gave the same" in text] == []


async def test_polling_with_new_results_is_never_refused() -> None:
    numbers = itertools.count()

    async def count(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"{next(numbers)} of 100", "counted")

    made = endless(*[says("", LOOK)] * 100, says("Done."))
    made.tool("look", "read", count)
    assert (await made.run()).status == "done"
    assert await refusals(made) == []


async def test_repeating_model_is_stopped_and_the_last_text_is_the_answer() -> None:
    made = endless(says("Two builds failed.", LOOK), *[says("", LOOK)] * 9)
    ending = await made.run()
    assert (ending.status, len(made.acted), len(made.model.requests)) == ("limited", 2, 5)
    assert answer_text(ending) == (
        "_I stopped because I looked up the same thing again and again. Here is what I have:_\n\nTwo builds failed."
    )


@given(st.lists(turns, min_size=1, max_size=5))
async def test_repeating_model_is_always_stopped(
    story: list[list[tuple[str, dict[str, object]]]],
) -> None:
    made = endless()
    made.tools |= {tool.name: tool for tool in bind_all(PLAN_TOOLS, None)}
    made.model = Parrot([says("", *asks) for asks in story])
    assert (await made.run()).status in ("failed", "limited")
