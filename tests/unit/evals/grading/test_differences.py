"""The difference of two plays of one case."""

from gofer.evals.grading.differences import TurnDifference, play_differences
from support.evals.played import asks, ended, made, play_of, played, played_turn

SEARCH = [asks(("jira_search", {"text": "checkout"}))], made("1.0", "jira_search")
FILE = [asks(("jira_create_issue", {"project": "PAY"}))], made("2.0", "jira_create_issue")


def test_plays_with_the_same_calls_statuses_and_answers_do_not_differ() -> None:
    one = played(*SEARCH, *FILE, ended("PAY-1 is filed."))
    other = played(*SEARCH, *FILE, ended("PAY-1  is filed."), latency_ms=9)
    assert play_differences(one, other) == []


def test_first_diverging_call_is_told_with_its_step() -> None:
    before = played(*SEARCH, *FILE, ended())
    elsewhere = [asks(("jira_create_issue", {"project": "OPS"}))], made("2.0", "jira_create_issue")
    assert play_differences(before, played(*SEARCH, *elsewhere, ended())) == [
        TurnDifference(
            1,
            calls=(
                'call 2.0: jira_create_issue {"project":"PAY"} (ok)',
                'call 2.0: jira_create_issue {"project":"OPS"} (ok)',
            ),
            step="2.0",
        )
    ]


def test_missing_call_and_another_outcome_differ() -> None:
    before = played(*SEARCH, *FILE, ended())
    (missing,) = play_differences(before, played(*SEARCH, ended()))
    assert missing.calls == ('call 2.0: jira_create_issue {"project":"PAY"} (ok)', "no further call")
    assert missing.step == ""
    failing = [FILE[0], made("2.0", "jira_create_issue", "error")]
    (other,) = play_differences(before, played(*SEARCH, *failing, ended()))
    assert other.calls[1].endswith("(error)")


def test_unreadable_arguments_are_compared_as_written() -> None:
    one = played([asks(("jira_search", "{a"))], ended())
    other = played([asks(("jira_search", "{b"))], ended())
    (found,) = play_differences(one, other)
    assert found.calls == ("call 1.0: jira_search {a (asked)", "call 1.0: jira_search {b (asked)")


def test_statuses_and_answers_differ() -> None:
    (found,) = play_differences(played(ended("Done.")), played(ended("Sorry.", "failed")))
    assert (found.statuses, found.answers) == (("done", "failed"), ("Done.", "Sorry."))
    assert found.calls == ("", "")


def test_turn_of_one_play_alone_differs() -> None:
    turn = played_turn(ended())
    assert play_differences(play_of(turn), play_of(turn, turn)) == [TurnDifference(2, statuses=("not played", "done"))]
    assert play_differences(play_of(turn, turn), play_of(turn)) == [TurnDifference(2, statuses=("done", "not played"))]


def test_long_arguments_and_answers_are_cut() -> None:
    one = played([asks(("jira_search", {"text": "a" * 10_000}))], ended("x" * 10_000))
    (found,) = play_differences(one, played(ended("y" * 10_000)))
    assert len(found.calls[0]) < 200
    assert all(len(answer) < 200 for answer in found.answers)
