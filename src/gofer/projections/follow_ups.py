"""What followed the end of a run: the grades of an eval, feedback, and the review. It is no part of the run."""

from dataclasses import dataclass, field
from typing import assert_never

from gofer.journal import entries as e


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

    def count(self, verdict: str) -> int:
        """Return the number of persons with this verdict."""
        return sum(feedback.verdict == verdict for feedback in self.feedback.values())


def fold(state: FollowUps, entry: e.RunGraded | e.FollowUp) -> None:
    """Add one more entry, in place."""
    match entry:
        case e.RunGraded():
            state.graded = entry
        case e.FeedbackGiven(verdict="withdrawn", actor=actor):
            state.feedback.pop(actor, None)
        case e.FeedbackGiven(actor=actor):
            state.feedback[actor] = entry
        case e.RunReviewed():
            state.reviewed = entry
        case _:
            assert_never(entry)
    if isinstance(entry, e.FollowUp):
        state.taken.add(entry.item)
