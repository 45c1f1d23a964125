"""Feedback and the review of a run in words."""

from collections.abc import Mapping
from typing import Literal

from gofer.journal.feedback_entries import RunReviewed
from gofer.values.amounts import money
from gofer.values.canonical_json import as_text

ReviewVerdict = Literal["effective", "not effective", "no verdict"]


def verdict_of(review: RunReviewed) -> ReviewVerdict:
    """Return the verdict of a review in words."""
    match review.effective:
        case None:
            return "no verdict"
        case True:
            return "effective"
        case False:
            return "not effective"


def feedback_headline(facts: Mapping[str, object], verdict: str) -> str:
    """Return one line about feedback, from the details of its step."""
    person = as_text(facts.get("by")) or as_text(facts.get("actor"))
    emoji = as_text(facts.get("emoji"))
    said = [verdict]
    if person:
        said.append(f"by {person}")
    if emoji:
        said.append(f"with :{emoji}:")
    return " ".join(said)


def review_headline(facts: Mapping[str, object], verdict: str) -> str:
    """Return one line about a review, from the details of its step."""
    if facts.get("goal_drift"):
        verdict = f"{verdict}, left its goal"
    if model := as_text(facts.get("model")):
        usd = facts.get("usd")
        cost = money(float(usd) if isinstance(usd, int | float) else None)
        verdict = f"{verdict}, by {model}, {cost}"
    return verdict


def review_texts(facts: Mapping[str, object]) -> Mapping[str, str]:
    """Return the sentences of a review by their labels, from the details of its step; empty ones are left out."""
    labels = {"why": "why", "next_step": "next step", "drift": "goal drift", "problem": "no verdict because"}
    said = {label: as_text(facts.get(name)) for name, label in labels.items()}
    return {label: text for label, text in said.items() if text}
