"""The events of feedback on a run and of its review. No delivery from outside becomes such an event."""

from dataclasses import dataclass

from gofer.journal.feedback_entries import FeedbackGiven, FollowUp, RunReviewed
from gofer.values.events import Actor, Event

SOURCE = "runs"
FEEDBACK = f"{SOURCE}.feedback"
REVIEW = f"{SOURCE}.review"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRun:
    """The run that feedback or a review is about."""

    run: str
    workflow: str
    owner: str
    """The owner in the workflow's file; empty if the workflow was removed."""
    channel: str
    """The channel of the owner; empty for an owner without a channel."""
    link: str
    """The address of the run's page; empty if Gofer has no pages."""
    hops: int
    """The hops of the event that started the run."""


def event_of(entry: FollowUp, subject: SubjectRun) -> Event | None:
    """Return the event of what follows a run that is not private; None if it starts nothing.

    Feedback that a person takes back and a review without a verdict start nothing.
    """
    match entry:
        case FeedbackGiven(verdict="withdrawn") | RunReviewed(effective=None):
            return None
        case FeedbackGiven():
            facts = {"verdict": entry.verdict, "by": entry.by, "origin": entry.origin, "emoji": entry.emoji}
            return _event(FEEDBACK, entry.item, entry.words, facts, subject)
        case RunReviewed():
            facts: dict[str, object] = {
                "effective": entry.effective,
                "next_step": entry.next_step,
                "goal_drift": entry.goal_drift,
                "drift": entry.drift,
                "model": entry.model,
            }
            return _event(REVIEW, entry.item, entry.why, facts, subject)


def _event(kind: str, item: str, text: str, facts: dict[str, object], subject: SubjectRun) -> Event:
    return Event(
        source=SOURCE,
        kind=kind,
        identity=(subject.run, item),
        # The runs about one workflow work one after the other, so that each sees the messages of those before it.
        conversation=f"{SOURCE}:{subject.workflow}",
        actor=Actor(SOURCE, "bot"),
        text=text,
        place={
            "run": subject.run,
            "workflow": subject.workflow,
            "owner": subject.owner,
            "channel": subject.channel,
            "link": subject.link,
        },
        private=False,
        facts={"workflow": subject.workflow, **facts},
        hops=subject.hops + 1,
    )
