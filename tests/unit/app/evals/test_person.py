"""The conversation with a person whom a model plays: its end, its limit, and what a failing model means."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.evals.person import MOST_TURNS, PlayedPerson
from gofer.app.evals.player import Playing, open_player
from gofer.app.model_endpoints import only
from gofer.app.settings import read_settings
from gofer.evals.grading.grading import case_run
from gofer.evals.load import load_evals, read_evals
from gofer.evals.plays import Play, PlayedTurn
from gofer.models.served_model import Price, ServedModel
from gofer.values.errors import RunStopped
from support.engine.memory_run import ListModel, says
from support.evals.live_answers import Said, answering_each
from support.evals.played import asks, ended, played_turn
from support.evals.small_repository import SmallRepository

pytestmark = pytest.mark.anyio

CASE = {
    "name": "moves",
    "trigger": {"text": "Move my booking."},
    "user": "A customer who gives the number only when asked.",
}


def person(*answers: str | Exception) -> tuple[PlayedPerson, ListModel]:
    model = ListModel([says(one) if isinstance(one, str) else one for one in answers])
    served = ServedModel("judge", price=Price(input=1.0, cached_input=1.0, output=1.0))
    return PlayedPerson("A customer.", "", served, only(model), ["Move my booking."]), model


def turns(*answers: str) -> Sequence[PlayedTurn]:
    return [played_turn([asks(text=answer)], ended(answer)) for answer in answers]


async def test_request_has_the_description_and_the_messages_of_both_sides() -> None:
    customer, model = person('{"message": "77"}', '```json\n{"message": ""}\n```')
    assert await customer.next_message(turns("Which number?")) == "77"
    assert await customer.next_message(turns("Which number?", "Moved.")) == ""
    asked = json.loads(json.loads(model.requests[1])["messages"][1]["content"])
    assert asked == {
        "person": "A customer.",
        "conversation": [
            {"person": "Move my booking."},
            {"gofer": "Which number?"},
            {"person": "77"},
            {"gofer": "Moved."},
        ],
    }
    assert (customer.problem, customer.cost_usd) == ("", pytest.approx(22 / 1_000_000))


@pytest.mark.parametrize("last", [turns(*["Yes?"] * MOST_TURNS), [played_turn([asks(("jira_search", {}))])]])
async def test_last_permitted_run_and_a_run_that_waits_end_the_conversation_unasked(last: Sequence[PlayedTurn]) -> None:
    customer, model = person()
    assert await customer.next_message(last) == ""
    assert (model.requests, customer.problem) == ([], "")


async def test_unreadable_message_is_asked_for_once_more_and_then_a_problem() -> None:
    customer, model = person("hello", '{"message": "77"}', "hello", '{"text": "77"}')
    assert await customer.next_message(turns("Which number?")) == "77"
    assert "problem" in json.loads(model.requests[1])["messages"][1]["content"]
    assert await customer.next_message(turns("Which number?", "Moved.")) == ""
    assert customer.problem.endswith("gave no readable message. The answer needs `message`, as a text.")


async def test_refused_request_is_a_problem() -> None:
    customer, _ = person(RunStopped("The key is wrong."))
    assert await customer.next_message(turns("Which number?")) == ""
    assert customer.problem == "The model judge, which plays the `user`, gave no message: The key is wrong."


async def play(path: Path, url: str) -> Play:
    (loaded,) = load_evals(path / "evals")
    async with open_player(read_settings({"OPENAI_BASE_URL": url}), path, Playing("live")) as player:
        return await player.play(loaded, loaded.eval.cases[0], 1)


@pytest.fixture
def small(tmp_path: Path) -> SmallRepository:
    made = SmallRepository(tmp_path)
    made.cases(CASE)
    return made


async def test_person_that_never_ends_is_stopped_by_the_limit(small: SmallRepository) -> None:
    with answering_each({"": [Said("Which number?")]}, person=["I forgot."] * MOST_TURNS) as url:
        live = await play(small.path, url)
    assert len(live.turns) == MOST_TURNS
    assert (live.no_evidence, live.infrastructure) == ("", "")
    # Five pauses of a minute are no latency, and neither is the time of the person.
    assert live.latency_ms < 60_000


async def test_failing_model_of_the_person_is_a_failure_of_infrastructure(small: SmallRepository) -> None:
    async def answer(request: Request) -> Response:
        asked = await request.json()
        if asked["model"] == "gpt-4.1":
            return JSONResponse({"error": {"message": "no such key", "code": "invalid_api_key"}}, status_code=401)
        message = {"role": "assistant", "content": "Which number?"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return JSONResponse({"id": "c", "model": asked["model"], "choices": [choice], "usage": usage})

    async with serve(Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])) as url:
        live = await play(small.path, f"{url}/v1")
    assert len(live.turns) == 1
    assert case_run(1, live, ()).outcome == "infrastructure"
    assert "API key" in live.infrastructure


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"trigger": {"payload": "mention.json"}}, "A `user` writes on in words, so the case begins with words."),
        ({"then": [{"text": "77"}]}, "A model writes what follows, so `then` means nothing."),
        ({"decision": {"history": []}}, "A model writes what follows, so `decision` means nothing."),
    ],
)
def test_user_needs_words_and_refuses_other_later_messages(
    small: SmallRepository, keys: dict[str, object], sentence: str
) -> None:
    small.cases({**CASE, **keys})
    assert sentence in str(read_evals(small.path / "evals")[1][0])
