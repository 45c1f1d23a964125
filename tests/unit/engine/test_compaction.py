"""What leaves the window, what stands in for it, and that a long run comes to its right end."""

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
from gofer.projections import conversation, progress, trace, workspace
from gofer.projections.conversation import Conversation
from gofer.projections.progress import Progress
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


async def test_a_run_of_500_turns_through_a_window_of_16k_ends_with_the_right_answer() -> None:
    made, model = pages(200), ReadingModel(adder(500, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    assert (await run(made, model)).answer == f"The sum is {sum(n * 7 for n in range(501))}."
    folded = await compactions(made)
    assert len(folded) > 5
    assert {one.by for one in folded} == {"model"}
    assert max(len(body) // 4 for body in model.bodies) < 16_000
    # Each begins where the one before ended, and is told of as what it is.
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
    ids=["empty", "larger than what it folds", "a tool call instead", "a tool call and what it is for"],
)
async def test_a_summary_of_no_use_is_written_by_code_and_the_run_goes_on(
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


async def test_a_summary_is_asked_for_without_calls_and_with_the_prefix_that_is_cached() -> None:
    made, model = pages(200), ReadingModel(adder(300, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model)
    sent = [json.loads(body) for body in model.bodies]
    asked = [at for at, body in enumerate(sent) if is_asked_to_sum_up(body["messages"])]
    assert asked
    assert [at for at, body in enumerate(sent) if body.get("tool_choice") == "none"] == asked
    for at in asked:
        summary, before = model.bodies[at], model.bodies[at - 1]
        # All that is left out of the request before it: turns too new to leave, and the tail.
        shared = next(n for n, (one, other) in enumerate(zip(summary, before, strict=False)) if one != other)
        assert summary[shared:].count(b'"role"') == 1
        assert sent[at]["tools"] == sent[at - 1]["tools"]


async def test_a_request_without_tools_says_nothing_of_calls() -> None:
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
async def test_a_model_that_refuses_tool_choice_is_asked_for_its_summary_without_it(said: ProviderError) -> None:
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


async def test_a_summary_that_is_refused_for_another_reason_is_not_asked_for_again() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            raise Refused("the content was filtered", ProviderError("filtered", 400), final=True)
        return says("done") if len(model.bodies) > 40 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    asked = [body for body in model.bodies if is_asked_to_sum_up(json.loads(body)["messages"])]
    assert len(asked) == len(await compactions(made))


async def test_a_model_that_refuses_to_sum_up_does_not_end_the_run() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            raise RunStopped("the provider refused the request")
        return says("done") if len(model.bodies) > 60 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert {one.by for one in await compactions(made)} == {"code"}
    # Nothing is being asked for ever, and no span stays open.
    journal = await made.journal()
    assert progress.project(journal).asking == {}
    spans = [span for span in trace.project(journal) if "compaction" in span.name]
    assert [span.status for span in spans] == ["error"] * len(await compactions(made))


async def test_the_goal_stays_though_the_first_message_left_and_no_model_sums_up() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("")
        return says("done") if len(model.bodies) > 100 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    # More than a fifth of the window: it cannot stay.
    assert (await run(made, model, more=" word" * 6_000 + " Answer in Welsh.")).answer == "done"
    folded = await compactions(made)
    assert (folded[0].kept, {one.by for one in folded}, len(folded) > 2) == (0, {"code"}, True)
    # Whoever sums up knows that nobody else keeps it.
    asked = [body.decode() for body in model.bodies if b"too long for its window" in body]
    assert all("everything, including the first message, is removed now." in one for one in asked)
    said = [json.loads(body)["messages"][1]["content"] for body in model.bodies]
    assert all("Add the numbers of all pages." in one and "Answer in Welsh." in one for one in said)


async def test_what_a_model_summed_up_outlives_a_time_when_none_does() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("" if "it has 4711" in json.dumps(messages) else "Found out so far: it has 4711.")
        return says("done") if len(model.bodies) > 130 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert [one.by for one in await compactions(made)][:3] == ["model", "code", "code"]
    assert "it has 4711" in model.bodies[-1].decode()


async def test_what_left_is_a_file_that_the_run_can_search_and_read() -> None:
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


async def test_the_plan_and_the_first_message_stay_in_view() -> None:
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
def test_a_file_that_stood_in_the_first_message_is_not_said_to_stand_there_once_that_left(
    stays: int, told: str
) -> None:
    entries = [
        FileAdded("file_1", "a.log", "text/plain", 5, "Slack", "sha", preloaded=True),
        ContextCompacted("what was", "history_1", stays, 3, (1, 1), "model"),
    ]
    at_hand = workspace.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))
    assert f"5 bytes, from Slack, {told}" in tail(Progress(), at_hand, Limits())


@pytest.mark.parametrize("stays", [0, 1])
def test_a_skill_whose_text_left_is_not_said_to_stand_there_still(stays: int) -> None:
    entries = [SkillLoaded("routing"), ContextCompacted("what was", "history_1", stays, 3, (1, 1), "model")]
    assert workspace.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)).skills == {}


async def test_what_cannot_be_made_to_fit_ends_the_run_before_it_is_sent() -> None:
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


async def test_many_results_of_one_turn_leave_room_together() -> None:
    def decide(messages: Messages) -> Answer:
        if len(model.bodies) == 1:
            return says("", *(("look", {"text": str(n)}) for n in range(40)))
        return says("done")

    made, model = pages(2_000), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert max(len(body) // 4 for body in model.bodies) < 16_000


async def test_a_run_that_was_compacted_continues_with_the_same_bytes() -> None:
    made, model = pages(200), ReadingModel(adder(60, lambda total, page: f"SUM {total} THROUGH PAGE {page}"))
    await run(made, model)
    journal = list(await made.journal())
    asked = [(at, item.entry) for at, item in enumerate(journal) if isinstance(item.entry, LlmRequest)]
    assert len(await compactions(made)) > 0
    mine = iter(model.bodies)
    for at, request in asked:
        parts = b",".join(conversation.project(journal[:at]).parts) + request.tail.encode()
        # Requests for summaries stand between them.
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
def test_a_cut_never_parts_a_call_from_its_result_and_always_keeps_the_last_turn(
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


def test_thoughts_between_calls_stand_in_no_transcript() -> None:
    said = messages.assistant("I look.", (), '{"content":"<think>Hm.</think>I look."}')
    asked = messages.user("What is <think>this</think>?")
    assert transcript(LeavingMessages([asked, said])) == (
        "## user, turn 0\nWhat is <think>this</think>?\n\n## assistant, turn 1\nI look."
    )
