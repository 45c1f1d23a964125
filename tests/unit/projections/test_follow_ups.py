"""Feedback and reviews of a run, and their counts."""

from random import Random
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

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


def reaction(emoji: str, verdict: Literal["good", "bad", "withdrawn"], at: int, actor: str = "U1") -> FeedbackGiven:
    return FeedbackGiven(verdict, actor, origin="reaction", emoji=emoji, item=f"feedback-{at:016d}-x")


def test_reaction_taken_back_leaves_the_other_reaction_of_the_person() -> None:
    acts = [reaction("+1", "good", 1), reaction("-1", "bad", 2)]
    assert folded(*acts, reaction("+1", "withdrawn", 3)).feedback["U1"].verdict == "bad"
    assert folded(*acts, reaction("-1", "withdrawn", 3)).feedback["U1"].verdict == "good"


def test_withdrawal_without_an_emoji_takes_back_all_earlier_feedback_of_the_person() -> None:
    said = FeedbackGiven("bad", "U1", words="No project.", origin="reply", item="feedback-0000000000000002-x")
    taken_back = FeedbackGiven("withdrawn", "U1", item="feedback-0000000000000003-x")
    assert folded(reaction("-1", "bad", 1), said, taken_back).feedback == {}
    assert folded(taken_back, said, reaction("-1", "bad", 4)).feedback["U1"].words == ""


def test_words_stay_with_a_later_reaction_of_the_same_verdict_only() -> None:
    said = FeedbackGiven("bad", "U1", words="No project.", origin="reply", item="feedback-0000000000000001-x")
    assert folded(said, reaction("-1", "bad", 2)).feedback["U1"].words == "No project."
    assert folded(said, reaction("+1", "good", 2)).feedback["U1"].words == ""


ACTS = st.lists(st.tuples(st.sampled_from(["U1", "U2", "U3"]), st.sampled_from(["+1", "-1"])), max_size=12)


@given(ACTS, st.randoms(use_true_random=False))
def test_any_order_of_deliveries_gives_the_reactions_that_each_person_left(
    toggled: list[tuple[str, str]], random: Random
) -> None:
    """Each act adds a reaction of the person, or removes it if it is there, as in Slack."""
    left: dict[str, dict[str, int]] = {}
    acts: list[FeedbackGiven] = []
    for at, (actor, emoji) in enumerate(toggled):
        mine = left.setdefault(actor, {})
        if emoji in mine:
            del mine[emoji]
            acts.append(reaction(emoji, "withdrawn", at, actor))
        else:
            mine[emoji] = at
            acts.append(reaction(emoji, "good" if emoji == "+1" else "bad", at, actor))
    random.shuffle(acts)
    expected = {actor: max(mine, key=lambda emoji: mine[emoji]) for actor, mine in left.items() if mine}
    assert {actor: one.emoji for actor, one in folded(*acts).feedback.items()} == expected
