"""The entries about an ended run: what people thought of it, and what a model that reviewed it found."""

from dataclasses import dataclass
from typing import Literal

FeedbackVerdict = Literal["good", "bad", "withdrawn"]
"""What a person thought of an answer; `withdrawn` takes back the person's earlier feedback."""
FeedbackOrigin = Literal["reaction", "reply", "command", "api", "page"]
"""How the person gave the feedback."""
LONGEST_WORDS = 2_000
"""The most characters of the words of a person in one feedback."""


@dataclass(frozen=True, slots=True)
class FeedbackGiven:
    """`feedback.given`: what a person thought of the run. The latest one of a person counts."""

    verdict: FeedbackVerdict
    actor: str
    """The id of the person in the system of the feedback; `operator` for a command."""
    by: str = ""
    """The display name of the person, if it is known."""
    words: str = ""
    """The words of the person, at most LONGEST_WORDS characters."""
    origin: FeedbackOrigin = "command"
    emoji: str = ""
    """The name of the emoji of a reaction."""
    item: str = ""
    """The id of the inbox item."""


@dataclass(frozen=True, slots=True)
class RunReviewed:
    """`run.reviewed`: the verdict of a model about the run. The tokens and the cost are no part of the run's own."""

    effective: bool | None
    """Whether the run did what it was asked for; None if there is no verdict, for the reason in `problem`."""
    why: str = ""
    """The reason for the verdict, in one or two sentences."""
    next_step: str = ""
    """What a person has to do now because of the run; empty if nothing."""
    goal_drift: bool = False
    """Whether the run left the goal of the request."""
    drift: str = ""
    """Where it left the goal; empty without goal drift."""
    model: str = ""
    """The model that reviewed the run, by the provider's name."""
    fingerprint: str = ""
    """The provider's `system_fingerprint`, or empty."""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    """The cost of the review in US dollars; None if the price is unknown."""
    prompt_sha256: str = ""
    """The hash of the prompt of the run's workflow, which identifies the version of the prompt."""
    rules: int = 1
    """The version of the reviewer's rules; verdicts by different rules are not compared."""
    problem: str = ""
    """Why there is no verdict, or empty."""
    item: str = ""
    """The id of the inbox item."""


FollowUp = FeedbackGiven | RunReviewed
"""The entries that other processes may send to a run that has ended."""
