"""Compaction in a full window: large plans, many files, other tokenizers and limits that are nearly reached."""

import json
import re

import pytest

from gofer.engine.run_files import FILES
from gofer.engine.tail import LISTED, tail
from gofer.journal.entries import Recorded
from gofer.journal.workspace_entries import FileAdded
from gofer.models.language_model import Answer, Refused
from gofer.projections import workspace
from gofer.projections.progress import Progress
from gofer.tools.definition import Call, NewFile, ToolResult
from gofer.values.errors import TemporaryError
from gofer.values.messages import ProviderError
from gofer.workflows.schema import Limits
from support.engine.long_run import Messages, ReadingModel, adder, compactions, is_asked_to_sum_up, pages, run
from support.engine.memory_run import Said, says

pytestmark = pytest.mark.anyio
PLAN = [{"id": str(n), "description": "word " * 59, "status": "blocked", "needs": "words " * 49} for n in range(50)]


def counting(model: list[ReadingModel], turns: int, first: Answer | None = None) -> Answer:
    """Return the next call of a model that makes a number of calls and then ends."""
    asked = len(model[0].bodies)
    if asked == 1 and first is not None:
        return first
    return says("done") if asked > turns else says("", ("look", {"text": str(asked)}))


async def test_long_plan_at_the_end_of_every_request_fits_the_window() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        return counting([model], 60, says("", ("todo_write", {"todos": PLAN})))

    made, model = pages(100), ReadingModel(decide)
    assert (await run(made, model)).answer.startswith("done")
    assert max(len(body) // 4 for body in model.bodies) < 16_000


@pytest.mark.parametrize("per_token", [2, 3, 6])
async def test_requests_fit_the_window_of_a_model_that_counts_tokens_differently(per_token: int) -> None:
    adding = adder(200, lambda total, page: f"SUM {total} THROUGH PAGE {page}")
    made, model = pages(200), ReadingModel(adding, per_token)
    assert (await run(made, model)).answer == f"The sum is {sum(n * 7 for n in range(201))}."
    assert max(len(body) // per_token for body in model.bodies) < 16_000
    # A compaction makes room for several turns.
    assert len(await compactions(made)) < 40


async def test_token_estimate_uses_the_counts_of_the_model_that_answers() -> None:
    def decide(messages: Messages) -> Answer:
        if json.loads(model.bodies[-1])["model"] == "a":
            model.bodies.pop()
            raise TemporaryError("nobody is there")
        return says("It went on.") if is_asked_to_sum_up(messages) else counting([model], 60)

    made, model = pages(200), ReadingModel(decide, per_token=2)
    assert (await run(made, model, models=("a", "b"))).answer == "done"
    assert max(len(body) // 2 for body in model.bodies) < 16_000


async def test_too_long_request_is_compacted_once_and_asked_again() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        if len(model.bodies[-1]) > 20_000:
            raise Refused("the request is too long", ProviderError("too_large", 400))
        return says("done") if len(model.bodies) > 80 else says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    assert (await run(made, model)).answer == "done"
    assert len(await compactions(made)) > 0


async def test_run_ends_when_a_compacted_request_is_still_too_long() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        if len(model.bodies) > 20:
            raise Refused("the request is too long", ProviderError("too_large", 400))
        return says("", ("look", {"text": str(len(model.bodies))}))

    made, model = pages(300), ReadingModel(decide)
    with pytest.raises(Refused, match="the request is too long"):
        await run(made, model)
    assert len(await compactions(made)) == 1


async def test_run_with_the_maximum_number_of_files_can_still_be_compacted() -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        text = json.dumps(messages)
        if found := re.search(r"history_\w{12}", text):
            given = [str(message["content"]) for message in messages if message["role"] == "tool"]
            return (
                says("done") if any(found[0] in one for one in given) else says("", ("file_read", {"file": found[0]}))
            )
        return counting([model], 100, says("", ("find", {})))

    async def find(call: Call, said: Said) -> ToolResult:
        files = [NewFile(f"{n}.txt", "text/plain", None, "Slack", source={"n": n}) for n in range(FILES)]
        return ToolResult("found", "found", files=files)

    made, model = pages(300), ReadingModel(decide)
    made.tool("find", "read", find)
    ending = await run(made, model, tools=("look", "find"))
    assert ending.answer == "done", ending
    assert len(await compactions(made)) > 0
    assert sum(isinstance(one.entry, FileAdded) for one in await made.journal()) > FILES


def test_attachments_and_compacted_turns_stay_listed_despite_many_newer_results() -> None:
    attached = [FileAdded(f"file_{n}", "a.log", "text/plain", 5, "Slack", "sha", source={"n": n}) for n in range(3)]
    left = [FileAdded(f"history_{n}", "turns.txt", "text/plain", 5, "this conversation", "sha") for n in range(2)]
    results = [FileAdded(f"result_{n}", "look.txt", "text/plain", 5, "look", "sha") for n in range(100)]
    entries = [*attached, *results[:50], *left, *results[50:]]
    at_hand = workspace.project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))
    listed = re.findall(r"- (\w+_\d+) ", json.loads(tail(Progress(), at_hand, Limits())[1:-2])["content"])
    assert listed[:3] == ["file_0", "file_1", "file_2"]
    assert {"history_0", "history_1", "result_99"} < {*listed}
    assert len(listed) == LISTED


@pytest.mark.parametrize("left", [20, 25, 30, 35, 40, 45, 50, 55])
async def test_compaction_never_exceeds_the_limit_of_model_calls(left: int) -> None:
    def decide(messages: Messages) -> Answer:
        return says("It went on.") if is_asked_to_sum_up(messages) else counting([model], 1_000)

    made, model = pages(300), ReadingModel(decide)
    ending = await run(made, model, llm_calls=left)
    assert (ending.status, ending.reason) == ("limited", f"stopped after {left} model calls")
    assert len(model.bodies) == left
    # The last call is not spent on a summary.
    assert not is_asked_to_sum_up(json.loads(model.bodies[-1])["messages"])


@pytest.mark.parametrize("words", [6_000, 8_000, 9_500, 10_500])
@pytest.mark.parametrize("calls", [1, 5])
async def test_run_that_begins_with_a_nearly_full_window_completes(words: int, calls: int) -> None:
    def decide(messages: Messages) -> Answer:
        if is_asked_to_sum_up(messages):
            return says("It went on.")
        looks = [("look", {"text": f"{len(model.bodies)}{n}"}) for n in range(calls)]
        return says("done") if len(model.bodies) > 20 else says("", *looks)

    made, model = pages(3_000), ReadingModel(decide)
    assert (await run(made, model, more=" word" * words)).answer == "done"
    assert max(len(body) // 4 for body in model.bodies) < 16_000
