"""The most that a suggestion can cost, in calls of models, said before the first one."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.learning.suggestions.proof import PLAYS

ATTEMPTS = 2
"""The requests for one proposal: an answer that breaks a rule is asked for once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCalls:
    """The most calls of models of one suggestion."""

    per_run: int
    """The most calls of one run of the workflow, by its limits."""
    replayed: int
    """The number of recorded runs that are replayed, each without and with the edit."""
    suite_plays: Sequence[int]
    """The plays of each case of the suite."""

    @property
    def total(self) -> int:
        """The most calls of models, without those of judges and of repetitions after failures."""
        return ATTEMPTS + self.per_run * 2 * (PLAYS + self.replayed + PLAYS + sum(self.suite_plays))

    def sentence(self, usd: float) -> str:
        """Return what the suggestion costs at most, in one sentence. `usd` is the limit."""
        return (
            f"Asks for a proposal with at most {ATTEMPTS} calls of a model. A proof needs at most "
            f"{self.total - ATTEMPTS} more, and judges. The limit is {usd:g} USD."
        )
