import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.evals.answering import OF_THE_PROMPT
from gofer.evals.answers import (
    WITHOUT_EFFECT,
    AnswerFile,
    Source,
    difference_of,
    parts_of,
    read_answers,
    recorded,
    recorded_failure,
    request_hash,
)
from gofer.models.language_model import Answer
from gofer.values.errors import ConfigError
from gofer.values.messages import FailureClass, ToolAsk, Usage

ANSWER = Answer("Yes.", (ToolAsk("c1", "look", "{}", '{"x":1}'),), "tool_calls", "m", Usage(5, 6, 7), '{"sig":"s"}')
SOURCE = Source(kind="model", model="m")


def body(**changed: object) -> bytes:
    request: dict[str, Any] = {
        "model": "m",
        "temperature": 0.1,
        "tools": [{"type": "function", "function": {"name": "look"}}],
        "messages": [
            {"role": "system", "content": "Help."},
            {"role": "user", "content": "Please."},
            {"role": "user", "content": "Used so far: 0."},
        ],
    }
    return json.dumps({**request, **changed}).encode()


def messages(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user" if at else "system", "content": text} for at, text in enumerate(texts)]


@given(st.dictionaries(st.sampled_from(sorted(WITHOUT_EFFECT)), st.text()))
def test_parameters_of_the_bookkeeping_do_not_change_the_hash(bookkeeping: dict[str, str]) -> None:
    assert request_hash(body(**bookkeeping)) == request_hash(body())
    assert parts_of(body(**bookkeeping)) == parts_of(body())


@pytest.mark.parametrize("changed", [{"model": "n"}, {"tools": []}, {"messages": []}, {"seed": 1}])
def test_every_other_change_of_a_request_changes_the_hash(changed: dict[str, object]) -> None:
    assert request_hash(body(**changed)) != request_hash(body())


def test_recorded_answer_gives_the_answer_back_without_thoughts() -> None:
    kept = recorded(body(), ANSWER, SOURCE, 12)
    file = AnswerFile({"b": [(kept,)], "a": [(kept, kept), (kept,)], "empty": [()]})
    read = read_answers(file.to_text(), "a file")
    assert list(read.cases) == ["a", "b"]
    assert [len(play) for play in read.plays("a")] == [2, 1]
    assert read.by_request({"a"})[request_hash(body())].given() == ANSWER
    assert read.to_text() == file.to_text()


def test_equal_answers_of_several_plays_are_in_the_file_once() -> None:
    days = [Source(kind="model", model="m", on=date(2026, 3, day)) for day in range(1, 11)]
    plays = [(recorded(body(), ANSWER, source, 100 * number),) for number, source in enumerate(days)]
    one = AnswerFile({"a": plays[:1]}).to_text()
    ten = AnswerFile({"a": plays}).to_text()
    assert len(json.loads(ten)["answers"]) == 1
    assert len(ten) < 2 * len(one)


def test_file_of_one_play_is_read_as_one_play() -> None:
    kept = recorded(body(), ANSWER, SOURCE, 12)
    before = {"version": 1, "cases": {"a": [kept.model_dump(mode="json", exclude_defaults=True)], "none": []}}
    read = read_answers(json.dumps(before), "a file")
    assert read == AnswerFile({"a": ((kept,),)})
    assert json.loads(read.to_text())["version"] == 2


@pytest.mark.parametrize("failure", sorted(OF_THE_PROMPT))
def test_failure_that_a_request_caused_is_recorded(failure: FailureClass) -> None:
    kept = recorded_failure(body(), failure, SOURCE, 3)
    (play,) = read_answers(AnswerFile({"a": [(kept,)]}).to_text(), "a file").plays("a")
    given = play[0].given()
    assert isinstance(given, Exception)
    assert given.provider_error.failure == failure


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 3}',
        '{"version": 1, "cases": {"a": [{"text": "x"}]}}',
        '{"version": 2, "answers": {}, "cases": {"a": [["0123"]]}}',
    ],
)
def test_damaged_file_of_answers_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(ConfigError, match=r"answers/one\.json"):
        read_answers(text, "answers/one.json")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"messages": messages("Help!", "Please.", "Used so far: 0.")}, "the prompt differs"),
        ({"messages": messages("Help!", "Please.", "Used so far: 9.")}, "the prompt differs"),
        ({"tools": []}, "the tools differ"),
        ({"temperature": 1}, "the parameters differ"),
        ({"messages": messages("Help.", "Please!", "Used so far: 0.")}, "message 1 of 2 differs"),
        ({"messages": messages("Help.", "Please.", "Used so far: 9.")}, "message 2 of 2 differs"),
        (
            {"tools": [], "messages": messages("Help.", "Now.", "Used so far: 0.")},
            "the tools and message 1 of 2 differ",
        ),
    ],
)
def test_difference_names_the_parts_that_changed(changed: dict[str, object], words: str) -> None:
    other = body(messages=messages("Other.", "Words."), tools=[1], model="x")
    known = [recorded(other, ANSWER, SOURCE, 0), recorded(body(), ANSWER, SOURCE, 0)]
    assert words in difference_of(body(**changed), known)


def test_difference_without_recorded_answers_names_no_part() -> None:
    assert difference_of(body(), []) == "No answer is recorded for this case."
