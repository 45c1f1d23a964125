"""The figures of each workflow for a report: the days of the report, as many days before, and the last thirty."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import MOST_BYTES, decode
from gofer.runtime.reviews.agreement import Pair, agreement_of
from gofer.runtime.statistics import Tally
from gofer.values.rater_agreement import RaterAgreement

UNUSED_DAYS = 30
"""The days without a use after which a workflow, a skill or a tool counts as unused."""
_LONGEST_NAME = 200
"""The most bytes of the last name that is left out of facts above MOST_BYTES."""


@dataclass(slots=True)
class Figures:
    """The figures of one workflow. Private runs are in none of them."""

    now: Tally = field(default_factory=Tally)
    """The runs of the days of the report."""
    before: Tally = field(default_factory=Tally)
    """The runs of as many days before."""
    month: Tally = field(default_factory=Tally)
    """The runs of the last UNUSED_DAYS days."""
    unseen: int = 0
    """The runs of the last UNUSED_DAYS days with bad feedback that waits for the owner."""
    uncertain: int = 0
    """The runs of the last UNUSED_DAYS days whose facts may not name every tool and skill that they used."""


@dataclass(frozen=True, slots=True)
class Period:
    """The days of a report, until a time in unix milliseconds."""

    until: int
    days: int

    @property
    def since(self) -> int:
        """The first time of the report, unix milliseconds."""
        return self.until - self.days * DAY_MS

    @property
    def compared_since(self) -> int:
        """The first time of the days before, unix milliseconds."""
        return self.since - self.days * DAY_MS

    @property
    def unused_since(self) -> int:
        """The time from which on a use counts, unix milliseconds."""
        return self.until - UNUSED_DAYS * DAY_MS

    @property
    def earliest(self) -> int:
        """The earliest time of all, unix milliseconds."""
        return min(self.compared_since, self.unused_since)


def add(figures: Figures, head: Head, period: Period) -> None:
    """Count one run, in place. A head without facts that this version can read counts by its status only."""
    if head.accepted_at > period.until:
        return
    facts = decode(head.facts)
    if head.accepted_at >= period.since:
        figures.now.add(head, facts)
    elif head.accepted_at >= period.compared_since:
        figures.before.add(head, facts)
    if head.accepted_at >= period.unused_since and head.status != "ignored":
        figures.month.add(head, facts)
        figures.unseen += head.retention == "unseen"
        figures.uncertain += facts is None or len(head.facts) > MOST_BYTES - _LONGEST_NAME


def agreement(figures: Iterable[Figures]) -> RaterAgreement:
    """Return the agreement of the reviews of the last UNUSED_DAYS days with the feedback of people."""
    pairs: Counter[Pair] = Counter()
    for each in figures:
        pairs.update(each.month.pairs)
    return agreement_of(pairs)


def count_all(heads: Iterable[Head], period: Period, into: Mapping[str, Figures]) -> None:
    """Count runs into the figures of their workflows. A workflow without figures was removed and is left out."""
    for head in heads:
        if figures := into.get(head.workflow):
            add(figures, head, period)
