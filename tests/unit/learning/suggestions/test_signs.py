"""The signs that a run was no good."""

from gofer.journal.entries import FeedbackGiven, RunReviewed
from gofer.learning.suggestions.signs import LONGEST_WORDS, MOST_FAILED_CALLS, Sign, has_low_review, signs_of
from support.learning.ended_run import disliked, ended_run, failed_call, failed_check, liked, low_review


def kinds(*signs: Sign) -> list[str]:
    return [sign.kind for sign in signs]


def test_bad_feedback_is_a_sign_about_the_answer() -> None:
    (sign,) = signs_of(ended_run("r", disliked("wrong  project")), reviews_count=False)
    assert sign == Sign("r", "3.0", "feedback", "", "wrong project")


def test_good_and_withdrawn_feedback_are_no_signs() -> None:
    assert signs_of(ended_run("r", liked()), reviews_count=True) == []
    withdrawn = FeedbackGiven("withdrawn", "U1", item="f2")
    assert signs_of(ended_run("r", disliked(), withdrawn), reviews_count=True) == []


def test_low_review_alone_counts_only_if_reviews_count() -> None:
    record = ended_run("r", low_review("It is wrong.", "Move it."))
    assert signs_of(record, reviews_count=False) == []
    (sign,) = signs_of(record, reviews_count=True)
    assert (sign.kind, sign.words) == ("review", "It is wrong. Next step: Move it.")


def test_low_review_counts_beside_feedback_or_a_failed_check() -> None:
    why = low_review("It is wrong.")
    assert kinds(*signs_of(ended_run("r", disliked(), why), reviews_count=False)) == ["feedback", "review"]
    assert kinds(*signs_of(ended_run("r", failed_check("c"), why), reviews_count=False)) == ["check", "review"]


def test_failed_call_does_not_make_a_review_count() -> None:
    record = ended_run("r", *failed_call("1.0", "find"), low_review("It is wrong."))
    assert kinds(*signs_of(record, reviews_count=False)) == ["tool"]


def test_goal_drift_is_a_sign_of_its_own() -> None:
    drift = RunReviewed(effective=True, why="Fine.", goal_drift=True, drift="It wrote a poem.", item="review")
    record = ended_run("r", drift)
    (sign,) = signs_of(record, reviews_count=True)
    assert (sign.kind, sign.words, has_low_review(record)) == ("drift", "It wrote a poem.", True)


def test_failed_check_names_its_first_entry() -> None:
    (sign,) = signs_of(ended_run("r", failed_check("no-tool-loops")), reviews_count=False)
    assert sign == Sign("r", "2.0", "check", "no-tool-loops", "no-tool-loops failed.")


def test_failed_calls_of_the_run_itself_are_no_signs() -> None:
    record = ended_run("r", *failed_call("answer/1", "post"), *failed_call("1.0", "find"))
    assert [(sign.step, sign.about) for sign in signs_of(record, reviews_count=False)] == [("1.0", "find")]


def test_words_and_failed_calls_are_limited() -> None:
    calls = [entry for number in range(1, 50) for entry in failed_call(f"{number}.0", "find", "x" * 5_000)]
    signs = signs_of(ended_run("r", *calls), reviews_count=False)
    assert len(signs) == MOST_FAILED_CALLS
    assert {sign.words for sign in signs} == {"x" * LONGEST_WORDS + "[cut]"}
