"""The receiver of payloads by people that describe feedback or a review, for `gofer run`, `gofer explain` and evals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from typing_extensions import override

from gofer.journal.feedback_entries import LONGEST_WORDS, FeedbackGiven, FollowUp, RunReviewed
from gofer.sources.receiver import Ignored, RawRequest, Receiver, json_object
from gofer.sources.runs.follow_ups import SubjectRun, event_of
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Event

_LONGEST_NAME = 200
_FORM = (
    '{"run": …, "workflow": …, "feedback": {"verdict": "bad", "words": …}}, or with '
    '"review": {"effective": false, "why": …, "next_step": …}'
)


@dataclass(frozen=True, slots=True)
class RunsReceiver(Receiver):
    """The receiver of described feedback and reviews. No process serves it, so an outsider cannot send any."""

    owners: Mapping[str, str]
    """The owner of each workflow, by the name of the workflow."""
    channel_of: Callable[[str], str]
    """Returns the channel that an owner names; empty for an owner without a channel."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        raise BadRequest(401, "Gofer accepts what follows a run from inside only.")

    @override
    def translate(self, request: RawRequest) -> Event | Ignored:
        body = json_object(request.body)
        run = as_text(body.get("run"))[:_LONGEST_NAME]
        workflow = as_text(body.get("workflow"))[:_LONGEST_NAME]
        if not run or not workflow:
            raise BadRequest(400, f"`run` or `workflow` is missing; write {_FORM}.")
        owner = self.owners.get(workflow, "")
        subject = SubjectRun(
            run=run,
            workflow=workflow,
            owner=owner,
            channel=self.channel_of(owner),
            link=as_text(body.get("link")),
            hops=0,
        )
        event = event_of(_entry(body), subject)
        if event is None:
            return Ignored("told_elsewhere", "feedback that a person takes back starts nothing")
        return event


def _entry(body: Mapping[str, object]) -> FollowUp:
    """Return the entry that a payload describes. Raises BadRequest(400)."""
    feedback = as_object(body.get("feedback"))
    match as_text(feedback.get("verdict")):
        case "good" | "bad" | "withdrawn" as verdict:
            words = as_text(feedback.get("words"))[:LONGEST_WORDS]
            by = as_text(feedback.get("by"))[:_LONGEST_NAME]
            return FeedbackGiven(verdict, "operator", by=by, words=words, item=as_text(body.get("item")) or "feedback")
        case _:
            return _review(as_object(body.get("review")))


def _review(review: Mapping[str, object]) -> RunReviewed:
    effective = review.get("effective")
    if not isinstance(effective, bool):
        raise BadRequest(400, f"The payload describes neither feedback nor a review; write {_FORM}.")
    why = as_text(review.get("why"))[:LONGEST_WORDS]
    next_step = as_text(review.get("next_step"))[:LONGEST_WORDS]
    return RunReviewed(effective, why=why, next_step=next_step, item="review")
