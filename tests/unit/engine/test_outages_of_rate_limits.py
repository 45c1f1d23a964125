"""Rate limits of another system: the run is parked, and no effect is repeated or lost."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.model_order import Parked
from gofer.engine.outages import LONGEST_LIMIT
from gofer.engine.permitted_call import Permitted
from gofer.journal import entries as e
from gofer.journal.entries import Effect
from gofer.runtime.cancel import cancel
from gofer.tools.definition import Call, InDoubt, Tool, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from support.engine.memory_run import PROVENANCE, Said, at_work, memory_run, says
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio
BUSY = "It accepts no more calls for a while."


@dataclass
class Busy:
    """A system with given answers: `busy`, `lost` for an effect without a response, or `well`."""

    answers: list[str]
    seconds: float = 40.0
    keys: set[str] = field(default_factory=set)
    times: int = 0
    """The number of effects. Equal keys of keyed calls count once."""

    def tool(self, effect: Effect) -> Tool[Said]:
        async def act(call: Call, said: Said) -> ToolResult:
            answer = self.answers.pop(0) if self.answers else "well"
            if answer == "busy":
                raise ToolError(BUSY, code="ratelimited", retry_after=self.seconds)
            if effect != "keyed" or call.key not in self.keys:
                self.times += 1
            self.keys.add(call.key)
            if answer == "lost":
                raise TemporaryError("no answer")
            return ToolResult("Done", "done", {"ok": True})

        async def look(call: Call, said: Said) -> ToolResult | None:
            return ToolResult("Done", "done", {"ok": True}) if call.key in self.keys else None

        return Tool("act", "acts", effect, Said, act, in_doubt=InDoubt(look=look if effect == "lookup" else None))


async def worked(made: MemoryWorker) -> None:
    for _ in range(30):
        await made.work_once_or_crash()
        made.clock.advance(41)


def granting(system: Busy, effect: Effect, *answers: object) -> MemoryWorker:
    made = memory_worker(*(answers or (says("", ("act", {"text": "x"})), says("Told."))))  # type: ignore[arg-type]
    made.grant("act")
    before = made.worker.services
    services = replace(before, tools={**before.tools, "act": system.tool(effect)})
    made.worker = replace(made.worker, services=services, alone=True)
    return made


@pytest.mark.parametrize("effect", ["read", "keyed", "lookup", "blind"])
async def test_rate_limited_call_is_made_later_and_other_runs_continue_meanwhile(effect: Effect) -> None:
    system = Busy(["busy", "busy"])
    made = granting(system, effect, says("", ("act", {"text": "x"})), says("Second."), says("Told."))
    await made.accept("run1", 1, private=False)
    await made.work_once_or_crash()
    head = await made.store.head("run1")
    assert head is not None
    said = f"{BUSY.rstrip('.')}; next attempt 12:00 UTC, last 13:05 UTC"
    assert (head.status, head.reason) == ("parked", said)
    assert head.wakes_at == int((made.clock.now() + 40) * 1000)
    await made.accept("run2", 2, private=False)
    await made.work_once_or_crash()
    assert await made.status("run2") == "done"
    await worked(made)
    assert (await made.status("run1"), system.times, made.posted) == ("done", 1, ["Told.", "Second."])


async def test_answer_that_slack_rate_limits_is_delivered_later_and_once() -> None:
    made = memory_worker(says("The answer."))
    tools, refused = made.worker.services.tools, [90.0, 90.0]
    update = tools["slack_update_message"]

    async def busy(call: Call, arguments: object) -> ToolResult:
        if refused:
            raise ToolError(BUSY, code="ratelimited", retry_after=refused.pop())
        return await update.act(call, arguments)

    services = replace(made.worker.services, tools={**tools, "slack_update_message": replace(update, act=busy)})
    made.worker = replace(made.worker, services=services)
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    assert await made.status("run1") == "parked"
    made.clock.advance(30)
    await made.work_once_or_crash()
    assert len(refused) == 1
    await worked(made)
    assert (await made.status("run1"), made.posted, made.edits) == ("done", ["The answer."], ["The answer."])


async def test_rate_limit_that_lasts_too_long_is_reported_to_the_model() -> None:
    system = Busy(["busy"] * 1_000, seconds=LONGEST_LIMIT / 3)
    made = granting(system, "keyed")
    await made.accept("run1", private=False)
    for _ in range(5):
        await made.work_once_or_crash()
        made.clock.advance(LONGEST_LIMIT / 3 + 1)
    assert (await made.status("run1"), len(system.answers)) == ("done", 996)
    body = made.model.requests[-1].decode()
    assert BUSY in body


async def test_run_parked_by_a_rate_limit_can_be_cancelled() -> None:
    system = Busy(["busy"] * 3)
    made = granting(system, "lookup")
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    await cancel("run1", e.RunCancelled("Ada"), made.store, made.queue, "c1")
    await made.work_once_or_crash()
    assert (await made.status("run1"), system.times, len(system.answers)) == ("cancelled", 0, 2)


@given(
    st.sampled_from(["keyed", "lookup"]),
    st.lists(st.sampled_from(["busy", "lost", "well"]), max_size=5),
)
async def test_rate_limited_or_unanswered_call_happens_once_or_is_unknown(effect: Effect, answers: list[str]) -> None:
    system, made = Busy(list(answers)), memory_run()
    tool = made.tools["act"] = system.tool(effect)
    made.patience = replace(made.patience, inflight=0.0, skew=0.0)
    made.tools["act"] = replace(tool, in_doubt=replace(tool.in_doubt, settle=0.0))
    for _ in range(8):
        step = await made.step("me")
        call = Permitted("1.0", made.tools["act"], Said(text="x"), {"text": "x"})
        try:
            outcome = await at_work(step).call(call, PROVENANCE)
        except Parked as parked:
            step.note(parked.entry)
            await step.commit()
            made.clock.advance(41)
        else:
            await step.commit()
            break
    else:
        pytest.fail("the run was parked without end")
    match outcome:
        case e.ToolResult(status="ok"):
            assert system.times == 1
        case e.ToolUnknown():
            # The outcome is unknown only after two attempts without a response.
            assert answers.count("lost") >= 2
            assert system.times == 1
        case _:
            pytest.fail(f"{outcome}")


async def test_rate_limited_call_counts_once_against_the_limits() -> None:
    made = memory_run()
    made.tools["act"] = Busy(["busy", "busy"]).tool("read")
    for _ in range(2):
        step = await made.step("me")
        with pytest.raises(Parked):
            await at_work(step).call(Permitted("1.0", made.tools["act"], Said(text="x"), {"text": "x"}), PROVENANCE)
        assert step.progress.tool_calls == 0
        await step.commit()
    step = await made.step("me")
    await at_work(step).call(Permitted("1.0", made.tools["act"], Said(text="x"), {"text": "x"}), PROVENANCE)
    assert step.progress.tool_calls == 1
