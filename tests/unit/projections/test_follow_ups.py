"""Feedback and reviews of a run, and their counts."""

from gofer.journal.entries import FeedbackGiven, FollowUp, RunReviewed
from gofer.projections.follow_ups import FollowUps, fold


def folded(*entries: FollowUp) -> FollowUps:
    state = FollowUps()
    for entry in entries:
        fold(state, entry)
    return state


def test_latest_feedback_of_a_person_counts() -> None:
    state = folded(FeedbackGiven("bad", "U1"), FeedbackGiven("good", "U2"), FeedbackGiven("good", "U1"))
    assert (state.count("good"), state.count("bad")) == (2, 0)


def test_feedback_that_was_taken_back_does_not_count() -> None:
    state = folded(FeedbackGiven("bad", "U1"), FeedbackGiven("withdrawn", "U1"), FeedbackGiven("withdrawn", "U2"))
    assert state.feedback == {}


def test_review_is_kept_apart_from_feedback() -> None:
    review = RunReviewed(effective=True)
    assert folded(review, FeedbackGiven("bad", "U1")).reviewed == review
