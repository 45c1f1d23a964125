"""The grades of calls: required, forbidden, in order and only, in the words of a report."""

from collections.abc import Sequence

from gofer.evals.eval_file import Expectations, Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.journal.entries import Entry
from support.evals.played import asks, ended, failures, made, played

TICKET = {"project": "PAY", "summary": "Checkout fails"}


def tools(play: Play, **written: object) -> dict[str, list[tuple[str, str, str]]]:
    """Return the failures of each kind of expectation about tools."""
    grades = graded([Expectations.model_validate({"tools": written})], Rubric(), play)
    return {kind: failures(grades, f"tools.{kind}") for kind in written}


def filed(*frames: Sequence[Entry]) -> Play:
    """Return a play that reads a thread, files a ticket and answers."""
    return played(
        [asks(("slack_read_thread", {"channel": "C1"}))],
        made("1.0", "slack_read_thread"),
        [asks(("jira_create_issue", TICKET))],
        made("2.0", "jira_create_issue"),
        *frames,
        [asks(text="PAY-1 is filed.")],
        ended("PAY-1 is filed."),
    )


TWICE = ([asks(("jira_create_issue", TICKET))], made("3.0", "jira_create_issue"))


def test_required_call_with_fitting_arguments_passes() -> None:
    wanted = {
        "jira_create_issue": {"times": 1, "arguments": {"project": "PAY", "summary": {"matches": "(?i)checkout"}}}
    }
    assert tools(filed(), required=["slack_read_thread", wanted]) == {"required": []}


def test_call_made_too_often_is_counted_with_its_call_ids() -> None:
    wanted = {"jira_create_issue": {"times": 1, "arguments": {"project": "PAY"}}}
    assert tools(filed(*TWICE), required=[wanted])["required"] == [
        ("jira_create_issue once with project PAY", "it was called 2 times (calls 2.0 and 3.0)", "3.0")
    ]


def test_call_made_too_seldom_is_counted() -> None:
    wanted = {"jira_create_issue": {"times": 2}}
    assert tools(filed(), required=[wanted])["required"] == [
        ("jira_create_issue 2 times", "it was called once (call 2.0)", "8.0")
    ]


def test_call_that_was_never_made_shows_the_calls_made_instead() -> None:
    assert tools(filed(), required=["slack_post_message"])["required"] == [
        (
            "a call of slack_post_message",
            "it was not called; the run called slack_read_thread and jira_create_issue",
            "8.0",
        )
    ]


def test_run_without_a_call_is_said_to_have_called_no_tool() -> None:
    play = played([asks(text="No idea.")], ended("No idea."))
    assert tools(play, required=["jira_search"])["required"] == [
        ("a call of jira_search", "it was not called; the run called no tool", "4.0")
    ]


def test_differing_argument_is_shown_with_its_call() -> None:
    wanted = {"jira_create_issue": {"arguments": {"project": "OPS", "summary": {"matches": "Checkout"}}}}
    assert tools(filed(), required=[wanted])["required"] == [
        (
            'a call of jira_create_issue with project OPS and summary {"matches": "Checkout"}',
            "in call 2.0 `project` is `PAY`; expected `OPS`",
            "2.0",
        )
    ]
