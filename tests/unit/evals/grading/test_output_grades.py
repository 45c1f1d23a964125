"""The grades of the answer: texts that it contains, texts that it must not contain, and its fields."""

from collections.abc import Mapping

import pytest

from gofer.evals.eval_file import Expectations, Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.journal import entries as e
from support.evals.played import asks, ended, failures, play_of, played, played_turn

ANSWER = "**PAY-12** is filed: the checkout fails for 3 customers."


def output(play: Play, **written: object) -> dict[str, list[tuple[str, str, str]]]:
    """Return the failures of each kind of expectation about the answer."""
    grades = graded([Expectations.model_validate({"output": written})], Rubric(), play)
    return {kind: failures(grades, f"output.{kind}") for kind in written}


def answered(text: str = ANSWER, fields: Mapping[str, object] | None = None) -> Play:
    return played([asks(text=text)], ended(text, output=fields))


def test_one_of_several_texts_is_enough() -> None:
    assert output(answered(), contains_any=["ticket", "is filed"]) == {"contains_any": []}


def test_each_group_of_texts_needs_one_text() -> None:
    groups = [["PAY-", "OPS-"], ["refund", "invoice"], ["shipping"]]
    happened = f"the answer is “{ANSWER}”"
    assert output(answered(), contains_any=groups)["contains_any"] == [
        ("“refund” or “invoice” in the answer", happened, "entry 4.0"),
        ("“shipping” in the answer", happened, "entry 4.0"),
    ]


def test_every_text_of_contains_all_is_needed() -> None:
    assert output(answered(), contains_all=["checkout", "PAY-12"]) == {"contains_all": []}
    assert output(answered(), contains_all=["checkout", "payroll", "rota"])["contains_all"] == [
        ("“payroll” in the answer", f"the answer is “{ANSWER}”", "entry 4.0"),
        ("“rota” in the answer", f"the answer is “{ANSWER}”", "entry 4.0"),
    ]


def test_unwanted_text_is_shown_with_the_words_around() -> None:
    text = f"{'x' * 500} As an  AI, I cannot. {'y' * 500}"
    ((expected, happened, step),) = output(answered(text), not_contains=["as an AI"])["not_contains"]
    assert expected == "no “as an AI” in the answer"
    assert " as an ai, i cannot." in happened
    assert len(happened) < 250
    assert step == "entry 4.0"
    assert output(answered(), not_contains=["as an AI", "@here"]) == {"not_contains": []}


def test_long_answer_is_cut() -> None:
    ((_, happened, _),) = output(answered("word " * 10_000), contains_all="nothing")["contains_all"]
    assert len(happened) < 250


def test_missing_answer_is_told_with_the_status() -> None:
    play = play_of(played_turn([asks(text="I look.")], [e.RunParked("approval", 10)]))
    assert output(play, contains_all="look")["contains_all"] == [
        ("“look” in the answer", "there is no answer; the run is parked", "entry 4.0")
    ]


def test_answer_of_a_play_that_ends_within_a_run_is_the_next_answer() -> None:
    turn = played_turn([asks(text="old")], [asks(text="The next step.")], [e.RunHandedOver()], given_answers=1)
    assert output(play_of(turn), contains_all="next step", not_contains="old") == {
        "contains_all": [],
        "not_contains": [],
    }


FIELDS: Mapping[str, object] = {"confidence": 0.7, "ticket": {"key": "PAY-12", "labels": ["a", "b"]}}


@pytest.mark.parametrize(
    ("name", "matcher", "passes"),
    [
        ("confidence", {"at_least": 0.5}, True),
        ("confidence", {"at_least": 0.8}, False),
        ("ticket.key", "PAY-12", True),
        ("ticket.labels.1", "b", True),
        ("ticket.owner", {"present": False}, True),
        ("ticket.owner", "me", False),
        ("ticket", {"key": {"matches": "^PAY"}}, True),
    ],
)
def test_fields_are_found_by_dotted_names(name: str, matcher: object, passes: bool) -> None:
    assert (not output(answered(fields=FIELDS), json={name: matcher})["json"]) == passes


def test_differing_field_is_shown() -> None:
    assert output(answered(fields=FIELDS), json={"ticket.key": "PAY-9"})["json"] == [
        ("the field ticket.key like PAY-9", "`ticket.key` is `PAY-12`; expected `PAY-9`", "entry 4.0")
    ]


def test_answer_without_fields_is_told() -> None:
    assert output(answered("Words."), json={"confidence": 1})["json"] == [
        ("the field confidence in the answer", "the answer has no fields; the answer is “Words.”", "entry 4.0")
    ]
