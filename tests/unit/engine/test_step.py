import asyncio

import pytest

from gofer.engine.model_order import Parked
from gofer.engine.model_request import Window
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.results import TEXT_LIMIT
from gofer.engine.tail import tail
from gofer.journal import inbox
from gofer.journal.entries import MessageReceived, RunOwned, ToolCall, ToolResult, ToolUnknown
from gofer.models.language_model import Answer
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import Fenced, TemporaryError, ToolError
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, memory_run, no_answer, says

pytestmark = pytest.mark.anyio


def permitted(made: MemoryRun, call: str, name: str, text: str = "it") -> Permitted:
    return Permitted(call, made.tools[name], Said(text=text))


def with_tools(*effects: str) -> MemoryRun:
    made = memory_run()
    for effect in effects:
        made.tool(effect, effect)
    return made


async def crash_between_intent_and_outcome(made: MemoryRun, effect: str) -> None:
    """Leave a journal whose last entry is an intent."""
    step = await made.step("first")
    step.note(ToolCall("1.0", effect, effect))
    await step.commit()


async def test_intent_is_durable_before_the_effect() -> None:
    made = memory_run()

    async def look(call: Call, said: Said) -> Result:
        seen.append([type(item.entry).__name__ for item in await made.journal()])
        return Result("done", "done")

    seen: list[list[str]] = []
    made.tool("blind", "blind", look)
    step = await made.step()
    await at_work(step).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert seen == [["RunAccepted", "RunOwned", "RunStarted", "ToolCall"]]


async def test_outcome_shares_the_frame_of_the_next_intent() -> None:
    made = with_tools("keyed")
    step = await made.step()
    await at_work(step).call(permitted(made, "1.0", "keyed"), PROVENANCE)
    await at_work(step).call(permitted(made, "1.1", "keyed"), PROVENANCE)
    await step.commit()
    assert await made.kinds() == [["RunOwned", "RunStarted", "ToolCall"], ["ToolResult", "ToolCall"], ["ToolResult"]]


async def test_names_that_a_call_looked_up_are_known_to_later_calls_of_the_run() -> None:
    made = memory_run()

    async def look_up(call: Call, said: Said) -> Result:
        known.append(dict(call.run.names))
        call.run.names[said.text] = "Ada"
        return Result("done", "done")

    known: list[dict[str, str]] = []
    made.tool("read", "read", look_up)
    step = await made.step()
    for number, text in enumerate(("slack:U1", "slack:U2")):
        await at_work(step).call(permitted(made, f"1.{number}", "read", text), PROVENANCE)
    assert known == [{}, {"slack:U1": "Ada"}]


async def test_reads_of_a_turn_share_one_frame_and_run_concurrently() -> None:
    made = memory_run()
    together = asyncio.Barrier(3)

    async def meet(call: Call, said: Said) -> Result:
        async with asyncio.timeout(60):
            await together.wait()
        return Result(said.text, "met")

    made.tool("read", "read", meet)
    step = await made.step()
    calls = [permitted(made, f"1.{i}", "read", f"r{i}") for i in range(3)]
    outcomes = await at_work(step).call_together(calls, PROVENANCE)
    assert [item.text for item in outcomes] == ["r0", "r1", "r2"]
    assert (await made.kinds())[0] == ["RunOwned", "RunStarted", "ToolCall", "ToolCall", "ToolCall"]


async def test_recorded_outcome_is_returned_again_without_an_effect() -> None:
    made = with_tools("blind")
    step = await made.step()
    first = await at_work(step).call(permitted(made, "1.0", "blind"), PROVENANCE)
    await step.commit()
    again = await at_work(await made.step("second")).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert again == first
    assert made.acted == ["blind:it"]


@pytest.mark.parametrize("effect", ["read", "keyed"])
async def test_repeatable_call_in_doubt_is_repeated_with_the_same_key(effect: str) -> None:
    made = memory_run()
    keys: list[str] = []

    async def remember(call: Call, said: Said) -> Result:
        keys.append(call.key)
        return Result("done", "done")

    made.tool(effect, effect, remember)
    await crash_between_intent_and_outcome(made, effect)
    outcome = await at_work(await made.step("second")).call(permitted(made, "1.0", effect), PROVENANCE)
    assert isinstance(outcome, ToolResult)
    assert keys == ["run1/1.0"]


async def test_lookup_tool_gets_the_start_time_of_the_run() -> None:
    made, since = memory_run(), list[float]()

    async def remember(call: Call, said: Said) -> Result:
        since.append(call.since)
        return Result("done", "done")

    made.tool("lookup", "lookup", remember)
    await made.step()
    made.clock.advance(60)
    await at_work(await made.step()).call(permitted(made, "1.0", "lookup"), PROVENANCE)
    assert since == [made.clock.now() - 60]


async def test_blind_call_in_doubt_is_unknown() -> None:
    made = with_tools("blind")
    await crash_between_intent_and_outcome(made, "blind")
    outcome = await at_work(await made.step("second")).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert isinstance(outcome, ToolUnknown)
    assert made.acted == []


async def test_lookup_call_in_doubt_is_not_repeated_when_the_lookup_finds_the_effect() -> None:
    made = with_tools("lookup")
    await crash_between_intent_and_outcome(made, "lookup")
    made.marked["run1/1.0"] = Result("it is there", "found")
    outcome = await at_work(await made.step("second")).call(permitted(made, "1.0", "lookup"), PROVENANCE)
    assert outcome == ToolResult("1.0", "ok", "it is there", "found")
    assert made.acted == []


async def test_lookup_call_in_doubt_is_repeated_under_a_new_frame_when_not_found() -> None:
    made = with_tools("lookup")
    await crash_between_intent_and_outcome(made, "lookup")
    outcome = await at_work(await made.step("second")).call(permitted(made, "1.0", "lookup"), PROVENANCE)
    assert isinstance(outcome, ToolResult)
    assert made.acted == ["lookup:it"]
    assert (await made.kinds())[-1] == ["RunOwned", "PermitRenewed"]


async def test_call_without_a_durable_intent_has_no_effect() -> None:
    made = with_tools("blind")
    old = await made.step("old")
    new = await made.step("new")
    new.note(RunOwned())
    await new.commit()
    with pytest.raises(Fenced):
        await at_work(old).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert made.acted == []


@pytest.mark.parametrize(
    ("effect", "kind", "status"),
    [("read", ToolResult, "error"), ("blind", ToolUnknown, "")],
)
async def test_unanswered_read_is_an_error_and_an_unanswered_blind_call_is_unknown(
    effect: str, kind: type, status: str
) -> None:
    made = memory_run()
    made.tool(effect, effect, no_answer)
    outcome = await at_work(await made.step()).call(permitted(made, "1.0", effect), PROVENANCE)
    assert isinstance(outcome, kind)
    assert getattr(outcome, "status", "") == status
    assert "nobody is there" in outcome.text


async def test_tool_error_is_passed_to_the_model_as_an_outcome() -> None:
    made = memory_run()

    async def refuse(call: Call, said: Said) -> Result:
        raise ToolError("Not that one; use the other.")

    made.tool("blind", "blind", refuse)
    outcome = await at_work(await made.step()).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert outcome == ToolResult("1.0", "error", "Not that one; use the other.")


async def test_exception_in_a_tool_becomes_an_outcome_without_the_message() -> None:
    made = memory_run()

    async def stumble(call: Call, said: Said) -> Result:
        raise KeyError("a secret in here")

    made.tool("read", "read", stumble)
    outcome = await at_work(await made.step()).call(permitted(made, "1.0", "read"), PROVENANCE)
    assert "KeyError" in outcome.text
    assert "secret" not in outcome.text


async def test_tool_text_is_cut_at_a_hard_limit() -> None:
    made = memory_run()

    async def flood(call: Call, said: Said) -> Result:
        raise ToolError("x" * (TEXT_LIMIT + 7))

    made.tool("read", "read", flood)
    outcome = await at_work(await made.step()).call(permitted(made, "1.0", "read"), PROVENANCE)
    assert outcome.text.endswith("[7 further characters were cut; ask for less.]")
    assert len(outcome.text) < TEXT_LIMIT + 100


async def test_inbox_items_are_journaled_once_before_the_next_intent() -> None:
    made = with_tools("blind")
    step = await made.step()
    await inbox.put(made.store, "run1", "a1", MessageReceived("stop please"))
    await at_work(step).call(permitted(made, "1.0", "blind"), PROVENANCE)
    assert await made.kinds() == [["RunOwned", "RunStarted", "MessageReceived"], ["ToolCall"]]
    assert list(await made.store.items("run1")) == []
    # The item is still in the inbox, as after a crash between journaling and dropping it.
    await inbox.put(made.store, "run1", "a1", MessageReceived("stop please"))
    again = await made.step("second")
    await at_work(again).call(permitted(made, "1.1", "blind"), PROVENANCE)
    received = [item.entry for item in await made.journal() if isinstance(item.entry, MessageReceived)]
    assert received == [MessageReceived("stop please", "a1")]
    assert list(await made.store.items("run1")) == []


async def ask(made: MemoryRun, step: OwnStep) -> None:
    bundle = made.bundle()
    await at_work(step).ask_model(Window(bundle), bundle.chain(), tail(step.progress, step.workspace, made.limits), 10)


async def test_model_answer_is_recorded_with_usage_and_cost() -> None:
    made = memory_run(says("hello", tokens=1_000_000))
    step = await made.step()
    step.note(MessageReceived("hi"))
    await ask(made, step)
    assert step.progress.llm_calls == 1
    assert step.progress.cost_usd == pytest.approx(1.0 + 10 / 1_000_000)
    assert (step.conversation.answered, step.conversation.answer) == (True, "hello")


async def test_busy_model_is_asked_again_with_the_same_bytes() -> None:
    made = memory_run(TemporaryError("busy"), TemporaryError("busy", retry_after=0.002), says("hello"))
    step = await made.step()
    step.note(MessageReceived("hi"))
    await ask(made, step)
    assert step.conversation.answer == "hello"
    assert len(made.model.requests) == 3
    assert len(set(made.model.requests)) == 1
    assert step.progress.llm_calls == 1


async def test_model_attempts_share_the_time_of_the_call() -> None:
    made = memory_run()
    timeouts: list[float] = []

    class SlowModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            timeouts.append(timeout)
            made.clock.advance(6)
            raise TemporaryError("slow")

    made.model = SlowModel()
    step = await made.step()
    step.note(MessageReceived("hi"))
    with pytest.raises(Parked):
        await ask(made, step)
    assert timeouts == [10, 4]
