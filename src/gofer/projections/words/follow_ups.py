"""Feedback and the review of a run in words."""

from collections.abc import Mapping, Sequence
from typing import Literal

from gofer.journal.feedback_entries import FeedbackGiven, FeedbackVerdict, RunReviewed
from gofer.projections.follow_ups import FollowUps
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


def offer(run: str, verdict: FeedbackVerdict) -> str:
    """Return the command that makes a test case of a run with this feedback; empty for none."""
    match verdict:
        case "good":
            return f"gofer golden {run}"
        case "bad":
            return f'gofer golden {run} --regression --not-contains "…"'
        case "withdrawn":
            return ""


def feedback_json(follow_ups: FollowUps) -> Sequence[Mapping[str, object]]:
    """Return the feedback of each person that counts."""
    return [
        {
            "verdict": given.verdict,
            "person": {"id": given.actor, "name": given.by},
            "words": given.words,
            "origin": given.origin,
            "emoji": given.emoji,
        }
        for given in follow_ups.feedback.values()
    ]


def review_json(follow_ups: FollowUps) -> Mapping[str, object] | None:
    """Return the review of a run; None without one."""
    review = follow_ups.reviewed
    if review is None:
        return None
    return {
        "effective": review.effective,
        "why": review.why,
        "next_step": review.next_step,
        "goal_drift": review.goal_drift,
        "drift": review.drift,
        "problem": review.problem,
        "model": review.model,
        "usd": review.usd,
        "rules": review.rules,
    }


def feedback_lines(follow_ups: FollowUps) -> Sequence[str]:
    """Return one line about the feedback of each person that counts, on which the person's words are quoted."""
    return [_feedback_line(given) for given in follow_ups.feedback.values()]


def review_line(follow_ups: FollowUps) -> str:
    """Return one line about the review of a run; empty without one."""
    review = follow_ups.reviewed
    if review is None:
        return ""
    facts = {"goal_drift": review.goal_drift, "model": review.model, "usd": review.usd}
    reason = _on_one_line(review.why or review.problem)
    return ": ".join(filter(None, [review_headline(facts, verdict_of(review)), reason]))


def _feedback_line(given: FeedbackGiven) -> str:
    line = feedback_headline({"by": given.by, "actor": given.actor, "emoji": given.emoji}, given.verdict)
    if not given.words:
        return line
    return f"{line}, in words: “{_on_one_line(given.words)}”"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


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
