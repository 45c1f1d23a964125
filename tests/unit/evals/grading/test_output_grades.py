"""The grades of the answer: texts that it contains, texts that it must not contain, and its fields."""

from collections.abc import Mapping

import pytest

from gofer.evals.eval_file import Expectations, Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.journal import entries as e
from support.evals.played import asks, ended, failures, made, play_of, played, played_turn, seen

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
    assert expected == "no “as an AI”"
    assert " as an ai, i cannot." in happened
    assert len(happened) < 250
    assert step == "entry 4.0"
    assert output(answered(), not_contains=["as an AI", "@here"]) == {"not_contains": []}


def wrote(arguments: Mapping[str, object], status: str = "ok", tool: str = "jira_create_issue") -> Play:
    """Return a play with one call of a tool that writes."""
    return played([asks((tool, arguments))], made("1.0", tool, status), [asks(text="Filed.")], ended("Filed."))


ISSUE = {"project": "PAY", "summary": "Refund", "description": "Ann (ann@acme.com) paid twice."}


def test_unwanted_text_is_found_in_the_arguments_of_a_writing_call() -> None:
    assert output(wrote(ISSUE), not_contains=["ann@acme.com", "phone"])["not_contains"] == [
        (
            "no “ann@acme.com”",
            "`description` of jira_create_issue (call 1.0) contains “ann (ann@acme.com) paid twice.”",
            "1.0",
        )
    ]
    nested = wrote({"fields": [{"body": {"text": {"text": {"text": {"text": {"text": "ann@acme.com"}}}}}}]})
    assert len(output(nested, not_contains="ann@acme.com")["not_contains"]) == 1
    assert len(output(wrote(ISSUE, "unknown"), not_contains="ann@acme.com")["not_contains"]) == 1


def test_searches_failed_calls_and_names_of_objects_are_no_texts_that_people_see() -> None:
    search = wrote({"text": "ann@acme.com"}, tool="jira_search")
    named = wrote({"issue": "PAY-9", "channel": "#payments", "text": "Done."}, tool="slack_post_message")
    assert output(search, not_contains="ann@acme.com") == {"not_contains": []}
    assert output(wrote(ISSUE, "error"), not_contains="ann@acme.com") == {"not_contains": []}
    assert output(named, not_contains=["PAY-9", "payments"]) == {"not_contains": []}


def test_markup_that_a_tool_writes_as_plain_text_is_looked_for_in_the_world() -> None:
    arguments = {"text": "<!channel> ann@acme.com"}
    frames = [asks(("slack_post_message", arguments))], made("1.0", "slack_post_message"), ended("Done.")
    in_world = played(*frames, systems=["slack"])
    assert output(in_world, not_contains="<!channel>") == {"not_contains": []}
    assert len(output(in_world, not_contains="ann@acme.com")["not_contains"]) == 1
    assert len(output(played(*frames, systems=[]), not_contains="<!channel>")["not_contains"]) == 1


def test_unwanted_text_is_found_in_an_edit_of_a_message() -> None:
    turn = played_turn([asks(text="Hm.")], ended("Hm."), seen=[seen("Mail ann@acme.com", "edit")])
    assert output(play_of(turn), not_contains="ann@acme.com")["not_contains"] == [
        ("no “ann@acme.com”", "the edit at /slack/C1/1 contains “mail ann@acme.com”", "entry 4.0")
    ]


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
