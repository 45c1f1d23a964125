"""Compaction: what leaves the window, summaries in its place, and long runs that end with the right answer."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.compaction import LAST_TURNS_SHARE, NO_CALLS, Cut, cut_of
from gofer.engine.compaction import WindowLimits as Space
from gofer.engine.tail import tail
from gofer.engine.transcript import LeavingMessages, transcript
from gofer.journal.entries import LlmRequest, MessageReceived, Recorded
from gofer.journal.workspace_entries import ContextCompacted, FileAdded, SkillLoaded
from gofer.models.language_model import Answer, Refused
from gofer.projections import conversation, progress, workspace
from gofer.projections.conversation import Conversation
from gofer.projections.progress import Progress
from gofer.projections.tracing import trace
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values import messages
from gofer.values.errors import RunStopped
from gofer.values.messages import ProviderError
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Context, Limits
from support.engine.long_run import Messages, ReadingModel, adder, compactions, is_asked_to_sum_up, pages, run
from support.engine.memory_run import PROVENANCE, coordinate, says
from support.models.served import served
from support.property_examples import examples

pytestmark = pytest.mark.anyio
SPACE = Space(16_000, 0.8, 16_000)


async def test_run_of_500_turns_in_a_window_of_16k_ends_with_the_right_answer() -> None:
    made, model = pages(200), ReadingModel(adder(500, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    assert (await run(made, model)).answer == f"The sum is {sum(n * 7 for n in range(501))}."
    folded = await compactions(made)
    assert len(folded) > 5
    assert {one.by for one in folded} == {"model"}
    assert max(len(body) // 4 for body in model.bodies) < 16_000
    # Each compaction begins where the one before ended, and the model reads which turns left.
    assert all(one.turns[1] + 1 == other.turns[0] for one, other in pairwise(folded))
    begin, last = folded[-1].turns
    told = f"Your turns 1 to {last} have left this conversation; {folded[-1].file} holds turns {begin} to {last}"
    assert told in model.bodies[-1].decode()


@pytest.mark.parametrize(
    "sum_up",
    [
        says(""),
        says("word " * 20_000),
        says("", ("look", {"text": "1"})),
        says("Let me look at page 1 first.", ("look", {"text": "1"})),
    ],
    ids=["empty", "larger than the folded turns", "a tool call instead", "a tool call with a reason"],
)
async def test_compaction_replaces_an_unusable_summary_with_a_generated_summary(
    sum_up: Answer,
) -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return sum_up
        turns = sum(message["role"] == "assistant" for message in messages)
        return says("done") if len(model.bodies) > 80 else says("", ("look", {"text": str(len(model.bodies) + turns)}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert {one.by for one in await compactions(made)} == {"code"}
    assert max(len(body) // 4 for body in model.bodies) < 16_000


async def test_compaction_asks_for_a_summary_without_calls_and_with_the_cached_prefix() -> None:
    made, model = pages(200), ReadingModel(adder(300, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model)
    sent = [json.loads(body) for body in model.bodies]
    asked = [at for at, body in enumerate(sent) if is_asked_to_sum_up(body["messages"])]
    assert asked
    assert [at for at, body in enumerate(sent) if body.get("tool_choice") == "none"] == asked
    for at in asked:
        summary, before = model.bodies[at], model.bodies[at - 1]
        # Only the newest turns and the tail of the request before are missing.
        shared = next(n for n, (one, other) in enumerate(zip(summary, before, strict=False)) if one != other)
        assert summary[shared:].count(b'"role"') == 1
        assert sent[at]["tools"] == sent[at - 1]["tools"]


async def test_compaction_of_a_request_without_tools_sends_no_tool_choice() -> None:
    """Providers refuse `tool_choice` where there are no tools."""
    made, model = pages(200), ReadingModel(adder(300, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model, offered=False)
    assert await compactions(made)
    assert not any(b"tool_choice" in body for body in model.bodies)


@pytest.mark.parametrize(
    "said",
    [
        ProviderError("unknown_parameter", 400, parameter="tool_choice"),
        ProviderError("refused", 400, message="tool_choice must be auto"),
    ],
)
async def test_compaction_repeats_a_summary_request_without_a_refused_tool_choice(said: ProviderError) -> None:
    def decide(messages: Messages) -> Answer:
        if b'"tool_choice"' in model.bodies[-1]:
            raise Refused("the provider refused the request", said)
        return add(messages)

    add = adder(100, lambda total, page: f"SUM {total} THROUGH PAGE {page}")
    made, model = pages(200), ReadingModel(decide)
    assert (await run(made, model)).answer == f"The sum is {sum(n * 7 for n in range(101))}."
    folded = await compactions(made)
    assert {one.by for one in folded} == {"model"}
    sent = [body for body in model.bodies if is_asked_to_sum_up(json.loads(body)["messages"])]
    assert len(sent) == 2 * len(folded)
    assert [body.replace(NO_CALLS.encode(), b"") for body in sent[::2]] == sent[1::2]
    assert progress.project(await made.journal()).asking == {}


async def test_compaction_does_not_repeat_a_summary_request_refused_for_another_reason() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            raise Refused("the content was filtered", ProviderError("filtered", 400), final=True)
        return says("done") if len(model.bodies) > 40 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    asked = [body for body in model.bodies if is_asked_to_sum_up(json.loads(body)["messages"])]
    assert len(asked) == len(await compactions(made))


async def test_compaction_continues_when_the_model_refuses_to_summarize() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            raise RunStopped("the provider refused the request")
        return says("done") if len(model.bodies) > 60 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert {one.by for one in await compactions(made)} == {"code"}
    # No request stays open, and no span either.
    journal = await made.journal()
    assert progress.project(journal).asking == {}
    spans = {span.id: span for span in trace.project(journal)}
    numbers = range(1, len(await compactions(made)) + 1)
    assert {spans[f"compaction/{n}"].status for n in numbers} == {"ok"}
    assert {spans[f"compaction/{n}/llm/1"].status for n in numbers} == {"error"}


async def test_goal_stays_in_view_after_compaction_of_the_first_message_without_a_model() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("")
        return says("done") if len(model.bodies) > 100 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    # The first message has more than a fifth of the window, so it cannot stay.
    assert (await run(made, model, more=" word" * 6_000 + " Answer in Welsh.")).answer == "done"
    folded = await compactions(made)
    assert (folded[0].kept, {one.by for one in folded}, len(folded) > 2) == (0, {"code"}, True)
    # The summary request says that the first message leaves too.
    asked = [body.decode() for body in model.bodies if b"too long for its window" in body]
    assert all("everything, including the first message, is removed now." in one for one in asked)
    said = [json.loads(body)["messages"][1]["content"] for body in model.bodies]
    assert all("Add the numbers of all pages." in one and "Answer in Welsh." in one for one in said)


async def test_model_summary_survives_later_generated_summaries() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("" if "it has 4711" in json.dumps(messages) else "Found out so far: it has 4711.")
        return says("done") if len(model.bodies) > 130 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert [one.by for one in await compactions(made)][:3] == ["model", "code", "code"]
    assert "it has 4711" in model.bodies[-1].decode()


async def test_compacted_turns_are_a_file_that_the_run_can_read() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        text = json.dumps(messages)
        if found := re.search(r"history_\w{12}", text):
            given = [str(message["content"]) for message in messages if message["role"] == "tool"]
            if any("the number 14." in one and found[0] in one for one in given):
                return says("found it")
            return says("", ("file_read", {"file": found[0]}))
        return says("", ("look", {"text": str(len(model.bodies) + 1)}))

    made, model = pages(400), ReadingModel(decide)
    assert (await run(made, model)).answer == "found it"
    (history,) = await compactions(made)
    assert f"Your turns 1 to {history.turns[1]} have left" in model.bodies[-1].decode()


async def test_plan_and_first_message_stay_in_view_after_compaction() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("Nothing yet.")
        if len(model.bodies) == 1:
            return says("", ("todo_write", {"todos": [{"id": "1", "description": "read on", "status": "completed"}]}))
        return says("done") if len(model.bodies) > 60 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert len(await compactions(made)) > 1
    messages = json.loads(model.bodies[-1])["messages"]
    assert messages[1]["content"] == "Add the numbers of all pages."
    assert "[x] 1 read on" in messages[-1]["content"]


@pytest.mark.parametrize(("stays", "told"), [(1, "shown whole in the first message"), (0, "not read")])
def test_tail_lists_a_preloaded_file_as_shown_only_while_the_first_message_stays(stays: int, told: str) -> None:
    entries = [
        FileAdded("file_1", "a.log", "text/plain", 5, "Slack", "sha", preloaded=True),
        ContextCompacted("what was", "history_1", stays, 3, (1, 1), "model"),
    ]
    at_hand = workspace.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))
    assert f"5 bytes, from Slack, {told}" in tail(Progress(), at_hand, Limits())


@pytest.mark.parametrize("stays", [0, 1])
def test_skill_is_no_longer_loaded_after_compaction(stays: int) -> None:
    entries = [SkillLoaded("routing"), ContextCompacted("what was", "history_1", stays, 3, (1, 1), "model")]
    assert workspace.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)).skills == {}


async def test_request_too_large_for_the_model_ends_the_run_before_sending() -> None:
    made, model = pages(1), ReadingModel(lambda messages: says("done"))
    made.tool("look", "read")
    step_text = "word " * 20_000
    made.model = model  # type: ignore[assignment]
    workflow = Workflow(description="d", owner="#o", when=("slack.mention",), context=Context(window=16_000))
    step = await made.step()
    step.note(MessageReceived(step_text))
    ending = await coordinate(step, Bundle(Loaded("a", workflow, "s", "p.md", served("m")), []), PROVENANCE)
    assert ending.status == "limited"
    assert re.fullmatch(
        r"stopped: the next request would have about \d+ tokens, and the model takes 16000", ending.reason
    )
    assert model.bodies == []


async def test_many_results_of_one_turn_fit_the_window_together() -> None:
    def decide(messages: Messages) -> Answer:
        if len(model.bodies) == 1:
            return says("", *(("look", {"text": str(n)}) for n in range(40)))
        return says("done")

    made, model = pages(2_000), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert max(len(body) // 4 for body in model.bodies) < 16_000


async def test_requests_of_a_compacted_run_follow_from_the_journal() -> None:
    made, model = pages(200), ReadingModel(adder(60, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model)
    journal = list(await made.journal())
    asked = [(at, item.entry) for at, item in enumerate(journal) if isinstance(item.entry, LlmRequest)]
    assert len(await compactions(made)) > 0
    mine = iter(model.bodies)
    for at, request in asked:
        parts = b",".join(conversation.project(journal[:at]).parts) + request.tail.encode()
        # The bodies include requests for summaries too.
        assert any(parts in body for body in mine)


def story(draw: st.DrawFn) -> tuple[Conversation, list[int]]:
    state, turns = Conversation(parts=[b"{}"]), draw(st.integers(0, 12))
    weights = [draw(st.integers(1, 6_000))]
    for _ in range(turns):
        state.starts.append(len(state.parts))
        for _ in range(1 + draw(st.integers(0, 3))):
            state.parts.append(b"{}")
            weights.append(draw(st.integers(1, 4_000)))
    state.first, state.folded = draw(st.integers(0, 1)), draw(st.integers(0, 5))
    return state, weights


stories = st.composite(story)()


@given(stories)
@examples(4)
def test_compaction_cut_keeps_calls_with_results_and_the_last_turn(
    made: tuple[Conversation, list[int]],
) -> None:
    state, weights = made
    match cut_of(state, weights, SPACE):
        case Cut(first=first, folded=folded, turns=(begin, last)):
            assert first + folded in state.starts
            assert folded >= 1
            assert begin <= last == state.folded + sum(start < first + folded for start in state.starts)
            rest = sum(weights[first + folded :])
            assert rest <= LAST_TURNS_SHARE * SPACE.window or first + folded == state.starts[-1]
        case None:
            pass


def test_transcript_of_compacted_turns_contains_no_thoughts() -> None:
    said = messages.assistant("I look.", (), '{"content":"<think>Hm.</think>I look."}')
    asked = messages.user("What is <think>this</think>?")
    assert transcript(LeavingMessages([asked, said])) == (
        "## user, turn 0\nWhat is <think>this</think>?\n\n## assistant, turn 1\nI look."
    )
