"""The facts that the worker writes into the head of an ended run."""

import pytest

from gofer.journal.head_facts import NO_TOOL, HeadFacts, ToolCount, decode
from gofer.journal.hidden_runs import hide
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.stand_ins import NOON, TOKENS

pytestmark = pytest.mark.anyio


async def facts_of(made: MemoryWorker, run: str = "run1") -> HeadFacts | None:
    head = await made.store.head(run)
    assert head is not None
    return decode(head.facts)


async def test_head_of_an_ended_run_has_its_facts() -> None:
    read = ("slack_read_thread", {"ts": "1795262400.000100"})
    made = memory_worker(says("", read, ("slack_invented", {}), tokens=30), says("Hello.", tokens=12))
    made.grant("slack_read_thread")
    await made.accept("run1")
    await made.work_once()
    facts = await facts_of(made)
    assert facts is not None
    assert facts.person == TOKENS.person("slack", "U0NEWCO0")
    assert facts.channel == TOKENS.channel("slack", "C0DEPLOY0")
    assert (facts.llm_calls, facts.input_tokens, facts.output_tokens) == (2, 42, 2)
    # The invented name of a tool is content of a model, so it reaches no row.
    assert facts.tools == {"slack_read_thread": ToolCount(1, 0), NO_TOOL: ToolCount(1, 1)}
    assert facts.usd == pytest.approx(0.000062)
    assert facts.sign_ms is not None
    assert facts.answer_ms is not None
    assert facts.sign_ms <= facts.answer_ms


async def test_head_of_an_unfinished_run_has_no_facts() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.facts) == ("queued", "")


async def test_head_of_a_run_in_a_channel_that_became_private_has_no_facts() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await hide("run1", made.store, int(NOON * 1000))
    await made.work_once()
    assert await made.status("run1") == "done"
    assert await facts_of(made) is None
