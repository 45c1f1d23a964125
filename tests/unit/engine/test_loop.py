import hashlib
import json
from dataclasses import replace

import pytest

from gofer.engine.loop import LEAST_SECONDS, Ending
from gofer.engine.model_order import MODEL_SECONDS
from gofer.engine.own_step import OwnStep
from gofer.journal.entries import LlmRequest, LlmResponse, MessageReceived, Recorded, ToolCall, ToolResult, ToolUnknown
from gofer.projections import conversation
from gofer.values.messages import ToolAsk, Usage
from gofer.workflows.grants import Grant
from gofer.workflows.schema import Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, coordinate, memory_run, no_answer, says

pytestmark = pytest.mark.anyio


async def run(made: MemoryRun, message: str = "please") -> Ending:
    step = await made.step()
    step.note(MessageReceived(message))
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    await step.commit()
    return ending


def with_tools(*answers: object) -> MemoryRun:
    made = memory_run(*answers)
    made.tool("look", "read")
    made.tool("post", "blind")
    return made


async def test_answer_without_calls_ends_the_run() -> None:
    made = memory_run(says("The answer."))
    assert await run(made) == Ending("done", "The answer.")
    assert await made.kinds() == [["RunOwned", "RunStarted", "MessageReceived", "LlmRequest"], ["LlmResponse"]]


async def test_answer_is_recorded_with_the_system_fingerprint_of_the_provider() -> None:
    made = memory_run(replace(says("The answer."), fingerprint="fp_44709d6fcb"))
    await run(made)
    (response,) = [one.entry for one in await made.journal() if isinstance(one.entry, LlmResponse)]
    assert response.fingerprint == "fp_44709d6fcb"


async def test_turn_runs_reads_together_and_then_each_write_in_order() -> None:
    made = with_tools(
        says("", ("post", {"text": "1"}), ("look", {"text": "2"}), ("post", {"text": "3"}), ("look", {"text": "4"})),
        says("Done."),
    )
    assert (await run(made)).status == "done"
    assert made.acted == ["look:2", "look:4", "post:1", "post:3"]
    assert (await made.kinds())[1:5] == [
        ["LlmResponse", "ToolCall", "ToolCall"],
        ["ToolResult", "ToolResult", "ToolCall"],
        ["ToolResult", "ToolCall"],
        ["ToolResult", "LlmRequest"],
    ]


async def test_model_sees_tool_outcomes_in_the_order_of_the_calls() -> None:
    made = with_tools(says("", ("post", {"text": "1"}), ("look", {"text": "2"})), says("Done."))
    await run(made)
    messages = json.loads(made.model.requests[1])["messages"]
    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in messages[3:-1]] == [
        ("tool", "call_0", "post did 1"),
        ("tool", "call_1", "look did 2"),
    ]


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (("fly", {}), "The tools of this workflow: look, post"),
        (("look", "{not json"), "arguments"),
        (("look", "[1]"), "arguments"),
        (("look", {"txt": "1"}), "txt"),
        (("look", '{"text": ' + "[" * 5000 + "]" * 5000 + "}"), "look was not called"),
    ],
)
async def test_invalid_tool_call_is_refused_with_a_hint_and_never_made(call: tuple, hint: str) -> None:
    made = with_tools(says("", call), says("Sorry."))
    assert (await run(made)).status == "done"
    assert made.acted == []
    (refused,) = [item.entry for item in await made.journal() if isinstance(item.entry, ToolResult)]
    assert refused.status == "refused"
    assert hint in refused.text


async def test_tool_that_was_not_granted_is_refused() -> None:
    made = with_tools(says("", ("post", {"text": "1"})), says("Sorry."))
    bundle = made.bundle()
    loaded = replace(bundle.loaded, workflow=bundle.loaded.workflow.model_copy(update={"tools": (Grant(name="look"),)}))
    step = await made.step()
    step.note(MessageReceived("please"))
    await coordinate(step, replace(bundle, loaded=loaded), PROVENANCE)
    assert made.acted == []
    outcome = step.progress.outcomes["1.0"]
    assert isinstance(outcome, ToolResult)
    assert (outcome.status, "The tools of this workflow: look." in outcome.text) == ("refused", True)


async def test_model_timeout_is_the_time_left_within_a_minimum_and_a_maximum() -> None:
    made = with_tools(says("", ("look", {})), says("Done."))
    made.limits = Limits(minutes=3)
    step = await made.step()
    step.note(MessageReceived("please"))
    made.clock.advance(90)
    await coordinate(step, made.bundle(), PROVENANCE)
    assert made.model.timeouts == [90, 90]
    short = with_tools(says("Done."))
    short.limits = Limits(minutes=0.1)
    await run(short)
    assert short.model.timeouts == [LEAST_SECONDS]
    long = with_tools(says("Done."))
    long.limits = Limits(minutes=600)
    await run(long)
    assert long.model.timeouts == [MODEL_SECONDS]


async def test_call_of_unknown_outcome_blocks_an_equal_call_in_the_same_turn() -> None:
    made = memory_run(
        says("", ("mail", {"text": "all"}), ("mail", {"text": "all"}), ("mail", {"text": "one"})), says("Hm.")
    )
    made.tool("mail", "blind", no_answer)
    step = await made.step()
    step.note(MessageReceived("please"))
    await coordinate(step, made.bundle(), PROVENANCE)
    assert made.acted == ["mail:all", "mail:one"]
    second = step.progress.outcomes["1.1"]
    assert isinstance(second, ToolResult)
    assert (second.status, "may have happened" in second.text) == ("refused", True)


async def test_calls_beyond_the_limit_per_turn_are_refused_and_never_made() -> None:
    made = with_tools(says("", *[("look", {"text": str(i)}) for i in range(66)]), says("Done."))
    made.limits = Limits(tool_calls=100)
    assert (await run(made)).status == "done"
    assert made.acted == [f"look:{i}" for i in range(64)]
    outcomes = {one.entry.call: one.entry for one in await made.journal() if isinstance(one.entry, ToolResult)}
    assert len(outcomes) == 66
    refused = {call: outcome.text for call, outcome in outcomes.items() if outcome.status == "refused"}
    assert refused.keys() == {"1.64", "1.65"}
    assert all("at most 64 tool calls fit one turn" in text for text in refused.values())


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(llm_calls=2), "stopped after 2 model calls"),
        (Limits(tool_calls=1), "stopped at 1 tool calls"),
        (Limits(tokens=21), "stopped at 21 tokens"),
        (Limits(usd=0.00003), "stopped at 0.00 USD"),
    ],
)
async def test_limit_stops_the_run_with_the_text_so_far(limits: Limits, reason: str) -> None:
    made = with_tools(*[says(f"so far {i}", ("look", {"text": str(i)})) for i in range(9)])
    made.limits = limits
    ending = await run(made)
    assert (ending.status, ending.reason) == ("limited", reason)
    assert ending.answer == "so far 1"


async def test_run_time_is_limited() -> None:
    made = with_tools(says("one", ("look", {})), says("two"))
    step = await made.step()
    step.note(MessageReceived("please"))
    made.limits = Limits(minutes=2)
    made.clock.advance(121)
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    assert ending.reason == "stopped after 2 minutes"


async def doubtful(made: MemoryRun, tool: str, effect: str) -> OwnStep:
    """Return a step of a run whose owner crashed between the intent and the outcome of a call."""
    first = await made.step("first")
    first.note(MessageReceived("please"))
    first.note(LlmResponse("", (ToolAsk("c", tool, '{"text": "1"}'),), "tool_calls", "m", Usage(), 0.0, 1))
    first.note(ToolCall("1.0", tool, effect))
    await first.commit()
    return await made.step("second")


@pytest.mark.parametrize("effect", ["lookup", "read"])
async def test_call_in_doubt_of_a_removed_tool_is_unknown_and_not_refused(effect: str) -> None:
    made = with_tools(says("Noted."))
    step = await doubtful(made, "gone", effect)
    await coordinate(step, made.bundle(), PROVENANCE)
    assert isinstance(step.progress.outcomes["1.0"], ToolUnknown)
    assert step.progress.in_doubt == {}


async def test_call_in_doubt_gets_an_outcome_even_when_a_limit_is_reached() -> None:
    made = with_tools()
    made.limits = Limits(tool_calls=1)
    step = await doubtful(made, "post", "blind")
    made.limits = Limits(llm_calls=1)
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    assert ending.status == "limited"
    assert step.progress.in_doubt == {}
    assert isinstance(step.progress.outcomes["1.0"], ToolUnknown)
    assert made.acted == []


def requests_of(entries: list[Recorded]) -> list[LlmRequest]:
    return [item.entry for item in entries if isinstance(item.entry, LlmRequest)]


async def test_consecutive_requests_share_every_byte_up_to_the_tail() -> None:
    made = with_tools(
        says("", ("look", {"text": "é"}), ("post", {"text": "1"})), says("hm", ("look", {"text": "2"})), says("Done.")
    )
    await run(made)
    entries = requests_of(list(await made.journal()))
    for body, after, entry in zip(made.model.requests, made.model.requests[1:], entries, strict=False):
        prefix = body[: -len(entry.tail.encode())]
        assert after.startswith(prefix)
        assert body.endswith(entry.tail.encode())


async def test_bytes_of_every_request_follow_from_the_journal() -> None:
    made = with_tools(says("", ("look", {"text": "1"})), says("", ("post", {"text": "2"})), says("Done."))
    await run(made)
    journal = list(await made.journal())
    for body, entry in zip(made.model.requests, requests_of(journal), strict=True):
        assert hashlib.sha256(body[: -len(entry.tail.encode())]).hexdigest() == entry.prefix_sha256
        until = next(i for i, item in enumerate(journal) if item.address == entry.through)
        parts = conversation.project(journal[: until + 1]).parts
        assert b",".join(parts) + entry.tail.encode() in body
        json.loads(body)


async def test_run_resumes_after_any_frame_with_the_same_answer_and_no_repeated_write() -> None:
    """The journal is cut after every frame, and another owner continues."""
    script = [says("", ("look", {"text": "1"}), ("post", {"text": "2"})), says("Done.")]
    whole = with_tools(*script)
    await run(whole)
    frames, key = list(await whole.store.frames("run1")), await whole.store.key("run1")
    assert key is not None
    for length in range(2, len(frames) + 1):
        made = with_tools()
        await made.store.claim("run1", frames[0], key)
        for n, frame in enumerate(frames[1:length], start=2):
            await made.store.create("run1", n, frame)
        answered = conversation.project(await made.journal()).turn
        made.model.answers = list(script[answered:])
        step = await made.step("second")
        ending = await coordinate(step, made.bundle(), PROVENANCE)
        assert (ending.status, ending.answer) == ("done", "Done.")
        assert made.acted.count("post:2") <= 1
