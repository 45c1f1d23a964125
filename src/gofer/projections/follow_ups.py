"""What followed the end of a run: the grades of an eval, feedback, and the review. It is no part of the run."""

from dataclasses import dataclass, field, replace
from typing import assert_never

from gofer.journal import entries as e

_ANY = ""
"""The mark of an act that is no reaction: words, a command or a button."""


@dataclass(slots=True)
class FollowUps:
    """The grades, the feedback and the review of a run so far. They change no time and no usage of the run."""

    graded: e.RunGraded | None = None
    """The grades of a run that an eval started."""
    feedback: dict[str, e.FeedbackGiven] = field(default_factory=dict[str, e.FeedbackGiven])
    """The latest feedback of each person, by the id of the person, without feedback that was taken back."""
    reviewed: e.RunReviewed | None = None
    taken: set[str] = field(default_factory=set[str])
    """The ids of journaled inbox items with feedback or a review."""
    acts: dict[str, dict[str, e.FeedbackGiven]] = field(default_factory=dict[str, dict[str, e.FeedbackGiven]])
    """The latest act of each person with each emoji and without one, by the id of the person and the emoji."""

    def count(self, verdict: str) -> int:
        """Return the number of persons with this verdict."""
        return sum(feedback.verdict == verdict for feedback in self.feedback.values())


def fold(state: FollowUps, entry: e.RunGraded | e.FollowUp) -> None:
    """Add one more entry, in place."""
    match entry:
        case e.RunGraded():
            state.graded = entry
        case e.FeedbackGiven():
            _fold_feedback(state, entry)
        case e.RunReviewed():
            state.reviewed = entry
        case _:
            assert_never(entry)
    if isinstance(entry, e.FollowUp):
        state.taken.add(entry.item)


def _fold_feedback(state: FollowUps, act: e.FeedbackGiven) -> None:
    """Add one more act of a person. Acts count in the order of their items, which is the order of their times.

    Deliveries may arrive in another order than people acted in.
    """
    acts = state.acts.setdefault(act.actor, {})
    mark = _mark(act)
    before = acts.get(mark)
    if before is None or before.item <= act.item:
        acts[mark] = act
    current = _current(acts)
    if current is None:
        state.feedback.pop(act.actor, None)
    else:
        state.feedback[act.actor] = current


def _mark(act: e.FeedbackGiven) -> str:
    """Return the emoji of a reaction, which a person takes back by itself; empty for every other act."""
    if act.origin == "reaction":
        return act.emoji
    return _ANY


def _current(acts: dict[str, e.FeedbackGiven]) -> e.FeedbackGiven | None:
    """Return the latest feedback that still stands, with the latest words of the person for the same verdict."""
    standing = [act for act in acts.values() if act.verdict != "withdrawn"]
    everything = acts.get(_ANY)
    if everything is not None and everything.verdict == "withdrawn":
        # Without an emoji, a person takes back all earlier feedback.
        standing = [act for act in standing if act.item > everything.item]
    if not standing:
        return None
    latest = max(standing, key=_item)
    spoken = [act for act in standing if act.words and act.verdict == latest.verdict]
    if latest.words or not spoken:
        return latest
    return replace(latest, words=max(spoken, key=_item).words)


def _item(act: e.FeedbackGiven) -> str:
    return act.item
