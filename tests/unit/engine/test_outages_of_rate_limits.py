"""A system outside takes no more for a while: the run is parked until it does, and nothing is done twice or lost."""

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
from support.engine.memory_run import PROVENANCE, Said, at_work, room, says
from support.runtime.memory_worker import Office, office

pytestmark = pytest.mark.anyio
BUSY = "It accepts no more calls for a while."


@dataclass
class Busy:
    """A system that answers as it is told: `busy`, `lost` for one that was taken without an answer, else well."""

    answers: list[str]
    seconds: float = 40.0
    keys: set[str] = field(default_factory=set)
    times: int = 0
    """How often it did something, equal keys once where it is told keys."""

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


async def worked(made: Office) -> None:
    for _ in range(30):
        await made.hear_lost()
        made.clock.advance(41)


def granting(system: Busy, effect: Effect, *answers: object) -> Office:
    made = office(*(answers or (says("", ("act", {"text": "x"})), says("Told."))))  # type: ignore[arg-type]
    made.grant("act")
    before = made.worker.services
    services = replace(before, tools={**before.tools, "act": system.tool(effect)})
    made.worker = replace(made.worker, services=services, alone=True)
    return made


@pytest.mark.parametrize("effect", ["read", "keyed", "lookup", "blind"])
async def test_a_call_that_was_not_taken_is_made_when_it_may_be_and_others_go_on_meanwhile(effect: Effect) -> None:
    system = Busy(["busy", "busy"])
    made = granting(system, effect, says("", ("act", {"text": "x"})), says("Second."), says("Told."))
    await made.accept("run1", 1, private=False)
    await made.hear_lost()
    head = await made.store.head("run1")
    assert head is not None
    said = f"{BUSY.rstrip('.')}; next attempt 12:00 UTC, last 13:05 UTC"
    assert (head.status, head.reason) == ("parked", said)
    assert head.wakes_at == int((made.clock.now() + 40) * 1000)
    await made.accept("run2", 2, private=False)
    await made.hear_lost()
    assert await made.status("run2") == "done"
    await worked(made)
    assert (await made.status("run1"), system.times, made.posted) == ("done", 1, ["Told.", "Second."])


async def test_an_answer_that_slack_takes_later_is_delivered_then_once() -> None:
    made = office(says("The answer."))
    tools, refused = made.worker.services.tools, [90.0, 90.0]
    update = tools["slack_update_message"]

    async def busy(call: Call, arguments: object) -> ToolResult:
        if refused:
            raise ToolError(BUSY, code="ratelimited", retry_after=refused.pop())
        return await update.act(call, arguments)

    services = replace(made.worker.services, tools={**tools, "slack_update_message": replace(update, act=busy)})
    made.worker = replace(made.worker, services=services)
    await made.accept("run1", private=False)
    await made.hear_lost()
    assert await made.status("run1") == "parked"
    made.clock.advance(30)
    await made.hear_lost()
    assert len(refused) == 1
    await worked(made)
    assert (await made.status("run1"), made.posted, made.edits) == ("done", ["The answer."], ["The answer."])


async def test_a_limit_that_lasts_too_long_is_told_instead() -> None:
    system = Busy(["busy"] * 1_000, seconds=LONGEST_LIMIT / 3)
    made = granting(system, "keyed")
    await made.accept("run1", private=False)
    for _ in range(5):
        await made.hear_lost()
        made.clock.advance(LONGEST_LIMIT / 3 + 1)
    assert (await made.status("run1"), len(system.answers)) == ("done", 996)
    body = made.model.requests[-1].decode()
    assert BUSY in body


async def test_a_run_that_is_put_off_can_be_cancelled() -> None:
    system = Busy(["busy"] * 3)
    made = granting(system, "lookup")
    await made.accept("run1", private=False)
    await made.hear_lost()
    await cancel("run1", e.RunCancelled("Ada"), made.store, made.queue, "c1")
    await made.hear_lost()
    assert (await made.status("run1"), system.times, len(system.answers)) == ("cancelled", 0, 2)


@given(
    st.sampled_from(["keyed", "lookup"]),
    st.lists(st.sampled_from(["busy", "lost", "well"]), max_size=5),
)
async def test_whatever_is_not_taken_or_lost_it_happens_once_or_is_unknown(effect: Effect, answers: list[str]) -> None:
    system, made = Busy(list(answers)), room()
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
        pytest.fail("it was put off without end")
    match outcome:
        case e.ToolResult(status="ok"):
            assert system.times == 1
        case e.ToolUnknown():
            # Only where nobody could tell twice.
            assert answers.count("lost") >= 2
            assert system.times == 1
        case _:
            pytest.fail(f"{outcome}")


async def test_what_was_put_off_counts_once_towards_the_limits() -> None:
    made = room()
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
