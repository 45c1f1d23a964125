"""The kinds of triggers of Gofer's own runs, with their conditions."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from typing_extensions import override

from gofer.sources.runs.follow_ups import FEEDBACK, REVIEW
from gofer.workflows.form_parts import Names
from gofer.workflows.when import Conditions, TriggerKind, TriggerSpec, Where

_ANY = "any"


class OnRuns(Conditions):
    """Conditions on what follows a run that is not private."""

    FACTS: ClassVar[Mapping[str, str]] = {"workflows": "workflow"}

    workflows: Names | None = None
    """Workflows by name, such as `answer-here` or `answer-*`; left out, every workflow."""

    @override
    def where(self) -> Where:
        return {fact: words for fact, words in super().where().items() if words != [_ANY]}


class RunsFeedback(OnRuns):
    """A person gives feedback on a run. Feedback on a run that such an event started is left out."""

    verdict: Literal["bad", "good", "any"] = "any"
    """Only bad or only good feedback; left out, any."""


class RunsReview(OnRuns):
    """The reviewer gives its verdict on a run. Its verdict is the opinion of a model."""

    effective: bool | Literal["any"] = "any"
    """Only runs that did what they were asked for (`true`), or only the others (`false`); left out, any."""


RUNS = TriggerSpec(
    kinds=(
        TriggerKind(FEEDBACK, RunsFeedback, foreign="feedback feedback.given runs.feedback_given"),
        TriggerKind(REVIEW, RunsReview, foreign="review reviewed run.reviewed runs.reviewed"),
    ),
)
