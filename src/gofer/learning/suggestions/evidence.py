"""The evidence about a workflow: the groups of signs in its recorded runs, and everything that was looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.learning.suggestions.sign_groups import Group, grouped
from gofer.learning.suggestions.signs import has_low_review, signs_of
from gofer.runtime.run_record import RunRecord
from gofer.values.amounts import counted

FEWEST_RUNS = 2
"""The fewest runs of one group for which a model is asked, unless a person said in words what was no good."""
MOST_GROUPS = 5
"""The most groups that a model reads."""
MOST_AFFECTED = 6
"""The most runs of these groups that a model reads and that are replayed."""
MOST_GOOD = 4
"""The most runs with good feedback that are replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """What was looked at."""

    days: int
    runs: int
    current: int
    """The runs with the current prompt."""
    good: int = 0
    """The runs with good feedback."""
    bad: int = 0
    """The runs with bad feedback."""
    low_reviews: int = 0
    """The runs that their review found not effective, or in which it found goal drift."""
    failed_checks: int = 0
    """The runs with a failed check."""
    reviews_do_not_count: str = ""
    """Why reviews alone are no evidence, in one sentence; empty if they are."""

    @property
    def sentence(self) -> str:
        """Everything that was looked at, in one sentence."""
        return (
            f"Looked at {counted(self.runs, 'run')} of {counted(self.days, 'day')}, {self.current} with the current "
            f"prompt: {self.bad} with bad and {self.good} with good feedback, {self.low_reviews} with a low review, "
            f"{self.failed_checks} with a failed check."
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence about one workflow."""

    workflow: str
    looked: LookedAt
    groups: Sequence[Group]
    """The groups, the one with the most runs first, at most MOST_GROUPS."""
    good: Sequence[str]
    """Runs with good feedback and without a sign, at most MOST_GOOD."""

    @property
    def affected(self) -> Sequence[str]:
        """The runs of the groups, each once, at most MOST_AFFECTED: those of the first group first."""
        runs = dict.fromkeys(run for group in self.groups for run in group.runs)
        return list(runs)[:MOST_AFFECTED]

    @property
    def too_little(self) -> str:
        """Why a model is not asked, in one sentence; empty if it is."""
        if any(len(group.runs) >= FEWEST_RUNS or group.has_feedback for group in self.groups):
            return ""
        if not self.looked.runs:
            return "There is no public run to learn from."
        return (
            f"No {FEWEST_RUNS} runs have the same failed check, the same failing tool or similar words in common, and "
            "no person said in words what was no good."
        )


def evidence_of(
    workflow: str, records: Sequence[RunRecord], *, current: int, days: int, reviews_do_not_count: str
) -> Evidence:
    """Return the evidence in recorded runs, of which the first `current` ones have the current prompt."""
    by_run = {record.run: signs_of(record, reviews_count=not reviews_do_not_count) for record in records}
    groups = grouped(sign for signs in by_run.values() for sign in signs)
    good = [record.run for record in records if _is_good(record) and not by_run[record.run]]
    looked = LookedAt(
        days=days,
        runs=len(records),
        current=current,
        good=sum(_is_good(record) for record in records),
        bad=sum(record.progress.follow_ups.count("bad") > 0 for record in records),
        low_reviews=sum(has_low_review(record) for record in records),
        failed_checks=sum(bool(record.failed_checks.get(record.run)) for record in records),
        reviews_do_not_count=reviews_do_not_count,
    )
    kept = [group for group in groups if len(group.runs) >= FEWEST_RUNS or group.has_feedback]
    return Evidence(workflow, looked, kept[:MOST_GROUPS], good[:MOST_GOOD])


def _is_good(record: RunRecord) -> bool:
    return bool(record.progress.follow_ups.count("good")) and not record.progress.follow_ups.count("bad")
