"""The outcome of one `gofer suggest`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gofer.evals.results import INFRASTRUCTURE, NO_EVIDENCE, OVER_BUDGET, PASSED
from gofer.learning.suggestions.evidence import Evidence
from gofer.learning.suggestions.proof import Proof
from gofer.learning.suggestions.proposal import Proposal

Outcome = Literal[
    "no_suggestion", "exists", "proven", "not_proven", "not_asked", "infrastructure", "over_budget", "refused"
]
"""`no_suggestion`: there is too little evidence, the model proposes nothing, or the proof says that the edit does not
help. `not_proven`: no live model is set up for the proof. `not_asked`: no model is set up at all. `refused`: no answer
of the model was a proposal that keeps the rules."""

EXIT_CODES: Mapping[Outcome, int] = {
    "no_suggestion": PASSED,
    "exists": PASSED,
    "proven": PASSED,
    "refused": NO_EVIDENCE,
    "not_proven": NO_EVIDENCE,
    "not_asked": NO_EVIDENCE,
    "infrastructure": INFRASTRUCTURE,
    "over_budget": OVER_BUDGET,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A suggestion, or why there is none."""

    evidence: Evidence
    outcome: Outcome
    reason: str = ""
    """Why there is no suggestion, or no proof, in one sentence."""
    proposal: Proposal | None = None
    case: str = ""
    """The name of the eval case as reports show it; empty without a proposal."""
    diff: tuple[str, ...] = ()
    """The edit as lines of a unified diff."""
    proof: Proof | None = None
    branch: str = ""
    """The branch with the edit; empty if none was written."""
    commit: str = ""
    """The commit of the branch."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The files of the branch that differ, by path."""
    usd: float = 0.0
    """The US dollars of the questions, the replays and the plays."""
    pull_request: str = ""
    """The text of the pull request, in Markdown; empty without a proof."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return EXIT_CODES[self.outcome]
