"""The entry about the checks of a run, which are made after its end."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
"""The severity of a check: an error alerts the operator, a warning is only shown."""

FailureKind = Literal[
    "",
    "context_drift",
    "misrouting",
    "invented_parameters",
    "reasoning_collapse",
    "silent_degradation",
    "goal_drift",
]
"""The kind of failure that a failed check implies; empty if it implies none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one check of a run."""

    check: str
    """The name of the check, as `checks` of a workflow file names it."""
    passed: bool
    severity: Severity = "error"
    summary: str = ""
    """One sentence with names and counts, without contents; empty if the check passed."""
    detail: str = ""
    """One sentence that may quote the run; shown only to people who may read it."""
    implies: FailureKind = ""
    entries: tuple[str, ...] = ()
    """The addresses of the entries that the check failed for."""


@dataclass(frozen=True, slots=True)
class RunChecked:
    """`run.checked`: the verdicts of all checks. It follows `run.finished` in the same frame."""

    verdicts: tuple[Verdict, ...]
