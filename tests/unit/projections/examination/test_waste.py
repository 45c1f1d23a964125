"""The waste of a run: malformed calls, repeats, retries and unused results, in tokens and US dollars."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import LlmResponse, Recorded, RunConcluded
from gofer.models.language_model import Answer
from gofer.projections.examination.call_tokens import call_tokens
from gofer.projections.examination.waste import Waste, waste
from gofer.projections.prompted_run import PromptedRun
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import ToolError
from gofer.values.messages import Usage
from support.engine.memory_run import MemoryRun, Said, memory_run, says
from support.engine.prompted_runs import prompted
from support.journal.generated_journals import journals

pytestmark = pytest.mark.anyio


def look(text: str) -> tuple[str, dict[str, object] | str]:
    return "look", {"text": text}


def looking(*answers: Answer) -> MemoryRun:
    made = memory_run(*(replace(answer, usage=Usage(1_000, 100, 400)) for answer in answers))

    async def act(call: Call, said: Said) -> ToolResult:
        if said.text == "broken":
            raise ToolError("The index is broken.", code="broken_index")
        return ToolResult(f"The {said.text} has the number {len(said.text) * 111}.", "looked")

    made.tool("look", "read", act)
    return made


async def wasted(*answers: Answer) -> Waste:
    made = looking(*answers)
    ending = await made.run()
    run = await prompted(made)
    last = run.entries[-1]
    end = replace(last, n=last.n + 1, i=0, entry=RunConcluded("done", "", ending.answer))
    return waste(replace(run, entries=[*run.entries, end]))


def counts(found: Waste) -> dict[str, int]:
    return {part.reason: part.calls for part in found.parts}


async def test_run_that_uses_each_result_has_no_waste() -> None:
    found = await wasted(says("", look("forest")), says("It is 666."))
    assert (found.parts, found.tokens) == ([], 0)
    assert found.run_tokens == 2_200


async def test_call_with_broken_arguments_and_call_of_an_unknown_tool_are_malformed() -> None:
    found = await wasted(says("", ("look", '{"text": ')), says("", ("erase all", {})), says("done"))
    (part,) = found.parts
    assert (part.reason, part.calls) == ("malformed", 2)
    assert part.tools == {"look": 1, "an unknown tool": 1}
    assert part.tokens > 200
    assert part.cached_tokens > 0
    assert part.usd is not None
    assert found.run_usd is not None
    assert 0 < part.usd < found.run_usd


async def test_call_that_returns_the_same_again_is_a_repeat() -> None:
    found = await wasted(says("", look("forest")), says("", look("forest")), says("It is 666."))
    assert counts(found) == {"repeats": 1}


async def test_failed_call_counts_as_a_retry_if_the_model_calls_the_tool_again() -> None:
    found = await wasted(says("", look("broken")), says("", look("forest")), says("It is 666."))
    assert counts(found) == {"retries": 1}
    assert counts(await wasted(says("", look("broken")), says("It cannot be read."))) == {}


async def test_result_without_a_word_in_later_arguments_or_the_answer_is_unused() -> None:
    found = await wasted(says("", look("forest")), says("", look("lake")), says("There is 444 only."))
    assert counts(found) == {"unused": 1}
    assert counts(await wasted(says("", look("forest")), says("", look("666")), says("333"))) == {}


async def test_waste_of_unknown_price_has_tokens_and_no_cost() -> None:
    made = looking(says("", look("forest")), says("", look("forest")), says("It is 666."))
    await made.run()
    run = await prompted(made)
    entries = [
        replace(one, entry=replace(one.entry, cost_usd=None)) if isinstance(one.entry, LlmResponse) else one
        for one in run.entries
    ]
    found = waste(replace(run, entries=entries))
    assert (found.run_usd, [part.usd for part in found.parts]) == (None, [None])
    assert found.tokens > 0


async def test_written_tokens_of_a_call_cost_their_own_price() -> None:
    usages = (Usage(1_000, 10), Usage(1_000, 10, written_tokens=1_000))
    spent: list[float] = []
    for usage in usages:
        made = looking(says("", look("broken")))
        made.model.answers.append(replace(says("It cannot be read."), usage=usage))
        await made.run()
        tokens = call_tokens(await prompted(made))
        spent.append(tokens.calls["1.0"].usd)
        assert tokens.total.written == usage.written_tokens
    read, written = spent
    assert written > read * 1.3


USAGES = st.builds(
    Usage, st.integers(0, 9_000), st.integers(0, 900), st.integers(0, 9_500), written_tokens=st.integers(0, 9_500)
)


@given(journal=journals(), usages=st.lists(USAGES, min_size=3, max_size=3), cost=st.floats(0, 5))
def test_tokens_of_all_calls_never_exceed_the_usage_of_the_run(
    journal: list[Recorded], usages: list[Usage], cost: float
) -> None:
    given_usages = iter(usages)
    entries = [
        replace(one, entry=replace(one.entry, usage=next(given_usages), cost_usd=cost))
        if isinstance(one.entry, LlmResponse)
        else one
        for one in journal
    ]
    run = PromptedRun("run1", entries, {"system": "You are a test."})
    tokens = call_tokens(run)
    spent = list(tokens.calls.values())
    for name in ("input", "cached", "written", "output", "usd"):
        assert sum(getattr(one, name) for one in spent) <= getattr(tokens.total, name) * (1 + 1e-9) + 1e-9
    found = waste(run)
    assert found.tokens <= found.run_tokens
    assert sum(part.usd or 0 for part in found.parts) <= (found.run_usd or 0) * (1 + 1e-9) + 1e-9
