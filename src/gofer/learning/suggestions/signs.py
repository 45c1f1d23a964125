"""The signs that one run was no good: feedback, its review, failed checks, and failed calls of tools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.journal.entries import RunConcluded, RunReviewed
from gofer.projections import calls
from gofer.runtime.run_record import RunRecord

LONGEST_WORDS = 600
"""The most characters of the words of one sign."""
MOST_FAILED_CALLS = 20
"""The most failed calls of one run that are signs."""
_CUT = "[cut]"

SignKind = Literal["feedback", "review", "drift", "check", "tool"]
"""Bad feedback of a person; a review that found the run not effective, or found goal drift; a failed check; a call of a
tool that failed or was refused."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that a run was no good."""

    run: str
    step: str
    """The call or the address of the entry that the sign is about; empty for the whole run."""
    kind: SignKind
    about: str
    """The name of the check or the tool; empty for the other kinds."""
    words: str
    """The words of the person, the reviewer, the check or the tool, at most LONGEST_WORDS characters; may be empty."""


def signs_of(record: RunRecord, *, reviews_count: bool) -> Sequence[Sign]:
    """Return the signs of a run.

    A review is a sign if reviews count, or beside bad feedback or a failed check of the same run.
    """
    certain = [*_feedback(record), *_checks(record)]
    reviewed: Sequence[Sign] = ()
    if reviews_count or certain:
        reviewed = [*_review(record)]
    return [*certain, *reviewed, *_failed_calls(record)]


def has_low_review(record: RunRecord) -> bool:
    """Return whether the review of a run found it not effective, or found goal drift."""
    review = record.progress.follow_ups.reviewed
    return review is not None and (review.effective is False or review.goal_drift)


def _feedback(record: RunRecord) -> Iterator[Sign]:
    for given in record.progress.follow_ups.feedback.values():
        if given.verdict == "bad":
            yield Sign(record.run, _answer(record), "feedback", "", _cut(given.words))


def _review(record: RunRecord) -> Iterator[Sign]:
    review = record.progress.follow_ups.reviewed
    if review is None:
        return
    if review.effective is False:
        yield Sign(record.run, _answer(record), "review", "", _cut(_with_next_step(review)))
    if review.goal_drift:
        yield Sign(record.run, _answer(record), "drift", "", _cut(review.drift))


def _with_next_step(review: RunReviewed) -> str:
    if not review.next_step:
        return review.why
    return f"{review.why} Next step: {review.next_step}"


def _checks(record: RunRecord) -> Iterator[Sign]:
    for verdict in record.failed_checks.get(record.run, ()):
        step = next(iter(verdict.entries), "")
        yield Sign(record.run, step, "check", verdict.check, _cut(verdict.summary))


def _failed_calls(record: RunRecord) -> Iterator[Sign]:
    failed = [call for call in calls.project(record.entries).calls.values() if call.status in ("error", "refused")]
    for call in failed[:MOST_FAILED_CALLS]:
        # Calls of the run itself fail for reasons outside the prompt.
        if not call.is_own and call.tool:
            yield Sign(record.run, call.id, "tool", call.tool, _cut(call.text))


def _answer(record: RunRecord) -> str:
    """Return the address of the entry with the answer; empty for a run without one."""
    found = [recorded.address for recorded in record.entries if isinstance(recorded.entry, RunConcluded)]
    return next(iter(found[-1:]), "")


def _cut(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= LONGEST_WORDS:
        return line
    return f"{line[:LONGEST_WORDS]}{_CUT}"
