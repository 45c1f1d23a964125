"""The grades of a decision point: the calls of the next answer."""

from gofer.evals.eval_file import Case, Expectations, Rubric
from gofer.evals.grading.grading import graded, graded_case
from gofer.evals.plays import PlayedTurn
from gofer.journal.entries import LlmResponse
from support.evals.played import asks, failures, made, play_of, played_turn

HISTORY = [asks(("slack_read_thread", {}))], made("1.0", "slack_read_thread")


def decided(*answers: LlmResponse) -> PlayedTurn:
    """Return a turn with one given answer and then these."""
    return played_turn(*HISTORY, *[[answer] for answer in answers], given_answers=1)


def grades_of_next(turn: PlayedTurn, *expected: object) -> list[tuple[str, str, str]]:
    expectations = Expectations.model_validate({"next": list(expected)})
    return failures(graded([expectations], Rubric(), play_of(turn)), "next")


FILE = ("jira_create_issue", {"project": "PAY", "type": "Bug"})
SEARCH = ("jira_search", {"text": "checkout"})


def test_next_answer_may_call_the_expected_tools_in_any_order_and_others() -> None:
    turn = decided(asks(SEARCH, FILE, ("slack_post_message", {})))
    assert grades_of_next(turn, {"jira_create_issue": {"arguments": {"project": "PAY"}}}, "jira_search") == []


def test_given_answers_are_not_the_next_answer() -> None:
    assert grades_of_next(decided(asks(FILE)), "slack_read_thread") == [
        ("a call of slack_read_thread", "the next answer called jira_create_issue (call 2.0)", "entry 6.0")
    ]


def test_answers_after_the_next_one_do_not_count() -> None:
    assert grades_of_next(decided(asks(SEARCH), asks(FILE)), "jira_create_issue") != []


def test_next_call_needs_an_outcome_only_if_the_file_names_one() -> None:
    turn = decided(asks(FILE))
    assert grades_of_next(turn, "jira_create_issue") == []
    assert grades_of_next(turn, {"jira_create_issue": {"status": "ok"}}) != []
    assert grades_of_next(turn, {"jira_create_issue": {"status": None}}) == []


def test_differing_argument_of_the_next_call_is_shown() -> None:
    called = "the next answer called jira_search (call 2.0) and jira_create_issue (call 2.1)"
    assert grades_of_next(decided(asks(SEARCH, FILE)), {"jira_create_issue": {"arguments": {"project": "OPS"}}}) == [
        (
            "a call of jira_create_issue with project OPS",
            f"{called}; in call 2.1 `project` is `PAY`; expected `OPS`",
            "2.1",
        )
    ]


def test_answer_in_words_is_quoted_where_a_call_is_expected() -> None:
    assert grades_of_next(decided(asks(text="I would file it.")), "jira_create_issue") == [
        ("a call of jira_create_issue", "the next answer called no tool; it says “I would file it.”", "entry 6.0")
    ]


def test_empty_list_expects_an_answer_in_words() -> None:
    assert grades_of_next(decided(asks(text="It is done."))) == []
    assert grades_of_next(decided(asks(SEARCH))) == [
        ("an answer in words without a call", "the next answer called jira_search (call 2.0)", "2.0")
    ]


def test_model_without_an_answer_is_told() -> None:
    assert grades_of_next(decided(), "jira_search", "jira_create_issue") == [
        ("a call of jira_search and a call of jira_create_issue", "the model did not answer", "entry 5.1")
    ]
    assert grades_of_next(decided())[0][0] == "an answer in words without a call"


def test_each_expected_call_needs_a_call_of_its_own() -> None:
    one = {"jira_search": {"arguments": {"text": "a"}}}
    any_search = "jira_search"
    both = decided(asks(("jira_search", {"text": "a"}), ("jira_search", {"text": "b"})))
    assert grades_of_next(both, any_search, one) == []
    assert grades_of_next(both, one, any_search) == []
    assert len(grades_of_next(both, one, any_search, any_search)) == 1
    assert len(grades_of_next(both, one, one)) == 1


def test_number_of_calls_in_the_next_answer_is_exact() -> None:
    twice = decided(asks(SEARCH, SEARCH))
    for times, passes in ((0, False), (1, False), (2, True), (3, False)):
        assert (not grades_of_next(twice, {"jira_search": {"times": times}})) == passes


def test_renamed_tool_of_the_next_call_is_told() -> None:
    ((_, happened, _),) = grades_of_next(decided(asks(FILE)), "jira_make_issue")
    assert happened.startswith("the workflow has no tool jira_make_issue any more; the most similar one is")


def test_status_and_checks_of_a_decision_point_are_graded_only_if_written() -> None:
    turn = decided(asks(text="Done."))
    grades = graded([Expectations.model_validate({"next": []})], Rubric(), play_of(turn), is_decision=True)
    assert [grade.dimension for grade in grades] == ["next"]
    written = {"next": [], "status": "done", "checks": ["no-tool-loops"]}
    grades = graded([Expectations.model_validate(written)], Rubric(), play_of(turn), is_decision=True)
    assert [grade.dimension for grade in grades] == ["status", "next", "check.no-tool-loops"]


def test_next_without_a_decision_point_leaves_no_status_ungraded() -> None:
    case = Case.model_validate({"name": "one", "expect": {"next": [], "checks": "none"}})
    grades = graded_case(case, play_of(decided(asks(text="Done."))))
    assert [grade.dimension for grade in grades] == ["status", "next"]
