"""Calls in doubt: no second attempt, second run or crashed subagent repeats an effect."""

from dataclasses import replace

import pytest

from gofer.engine.effects import LastFrame, Patience, Permit, PermittedHttp
from gofer.engine.model_order import Parked
from gofer.engine.once import claim
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import RunFinished, ToolCall, ToolUnknown
from gofer.journal.log import Pen, open_journal
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import Fenced, TemporaryError, ToolError
from gofer.values.outside import HttpRequest
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, memory_run
from support.stand_ins import AnsweringHttp, claimed, make_outside

pytestmark = pytest.mark.anyio


async def test_subagent_sends_no_request_after_the_root_run_was_taken_over() -> None:
    """The subagent wrote a frame a moment ago. Its root wrote none for 21 seconds and has another owner."""
    made = memory_run()

    async def fenced() -> bool:
        raise Fenced("The run has another owner.")

    async def written() -> bool:
        return True

    root = Permit(Patience(permit=20), LastFrame(made.clock), fenced)
    made.clock.advance(21)
    subagent = Permit(Patience(permit=20), LastFrame(made.clock), written, root)
    outside = AnsweringHttp(lambda url, content: {})
    with pytest.raises(Fenced):
        await PermittedHttp(outside, subagent).send(HttpRequest("POST", "http://outside"))
    assert outside.requests == []


async def test_subagent_sends_after_the_root_run_renewed_the_permit() -> None:
    made = memory_run()
    renewed: list[str] = []

    async def renew() -> bool:
        renewed.append("root")
        return True

    async def needless() -> bool:
        raise AssertionError("the permit of the subagent is young")

    root = Permit(Patience(permit=20), LastFrame(made.clock), renew)
    made.clock.advance(21)
    subagent = Permit(Patience(permit=20), LastFrame(made.clock), needless, root)
    outside = AnsweringHttp(lambda url, content: {})
    await PermittedHttp(outside, subagent).send(HttpRequest("POST", "http://outside"))
    assert (renewed, len(outside.requests)) == (["root"], 1)


async def test_keyed_call_stays_in_doubt_while_the_second_attempt_is_deferred() -> None:
    """The first attempt got no answer and the second was too early. The refusal of a third proves nothing."""
    made = memory_run()
    attempts: list[Exception] = [
        TemporaryError("no answer"),
        ToolError("too many calls", code="ratelimited", retry_after=40.0),
        ToolError("no such page", code="missing"),
    ]

    async def act(call: Call, said: Said) -> ToolResult:
        raise attempts.pop(0)

    made.tool("page", "keyed", act)
    item = Permitted("1.0", made.tools["page"], Said(text="it"))
    first = await made.step("first")
    with pytest.raises(Parked):
        await at_work(first).call(item, PROVENANCE)
    await first.commit()
    made.clock.advance(41)
    second = await made.step("second")
    assert isinstance(await at_work(second).call(item, PROVENANCE), ToolUnknown)


async def test_call_in_doubt_of_an_ended_run_is_looked_up_with_the_original_key() -> None:
    """An earlier run ended before the outcome of its ticket was known. The next run finds that ticket."""
    made = memory_run()
    made.tool("ticket", "lookup")
    earlier = await _run_of("run0", made)
    item = Permitted("1.0", made.tools["ticket"], Said(text="new laptop"))
    assert await claim(earlier, item) is item
    earlier.note(ToolCall("1.0", "ticket", "lookup"))
    earlier.note(RunFinished("needs_attention", "lost"))
    await earlier.commit()
    made.marked["run0/1.0"] = ToolResult("OPS-1", "filed")
    step = await made.step()
    taken = await claim(step, item)
    assert isinstance(taken, Permitted)
    assert taken.key == "run0/1.0"
    outcome = await at_work(step).call(taken, PROVENANCE)
    assert (outcome.text, made.acted) == ("OPS-1", [])


async def _run_of(run: str, made: MemoryRun) -> OwnStep:
    """Return a step of another run, whose owner is about to crash."""
    outside = make_outside(made.clock)
    await claimed(made.store, run, outside)
    journal, entries = await open_journal(run, made.store, made.blobs, Pen("lost", outside))
    return OwnStep(journal, made.services(), entries, Deadline(made.clock))


@pytest.mark.parametrize("order", [("chat", "desk"), ("desk", "chat")])
async def test_quiet_time_follows_the_call_in_doubt_with_the_longest_settle_time(
    order: tuple[str, ...],
) -> None:
    made = memory_run()
    for name, settle in (("chat", 5.0), ("desk", 90.0)):
        made.tool(name, "lookup")
        tool = made.tools[name]
        made.tools[name] = replace(tool, in_doubt=replace(tool.in_doubt, settle=settle))
    lost = await made.step("lost")
    for place, name in enumerate(order):
        lost.note(ToolCall(f"1.{place}", name, "lookup"))
    await lost.commit()
    step = await made.step("next")
    assert step.quiet_left(predecessor_is_dead=True) == 90.0
