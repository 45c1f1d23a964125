"""The names and limits of the checks of a run, and the parts of their verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from gofer.journal.check_entries import Severity, Verdict

LimitedCheck = Literal[
    "context-window-headroom", "no-tool-loops", "llm-call-budget", "plan-call-budget", "execution-time"
]
"""The checks that compare a number of the run with a limit."""

_UnlimitedCheck = Literal["no-orphaned-tools", "no-state-violations", "no-invented-names", "no-empty-evidence"]
Check = LimitedCheck | _UnlimitedCheck
"""Every check, by its name in workflow files, verdicts and metrics."""
CHECKS: Sequence[Check] = (*get_args(LimitedCheck), *get_args(_UnlimitedCheck))
"""The names of all checks."""

DEFAULTS: Mapping[str, float] = {
    "context-window-headroom": 0.9,
    "no-tool-loops": 3,
    "llm-call-budget": 10,
    "plan-call-budget": 10,
    "execution-time": 30,
}
"""The limits of checks that a workflow file does not set."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the checks of one run."""

    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """The limits that the workflow sets itself, by check."""
    off: frozenset[str] = frozenset()
    """The checks that the workflow switched off."""
    polls: frozenset[str] = frozenset()
    """The tools that may be called again and again with the same arguments."""
    tools: frozenset[str] = frozenset()
    """The tools of the run. A model may write anything as the name of another tool."""
    texts: tuple[str, ...] = ()
    """The system prompt, the tool schemas and the skills, whose names count as seen."""

    def limit(self, check: LimitedCheck) -> float:
        """Return the limit of a check."""
        return self.limits.get(check, DEFAULTS[check])


_QUOTED = 200
"""The most characters of a quotation in a verdict."""
_SUMMARY = 500
"""The most characters of the summary of a verdict."""
_DETAIL = 3_000
"""The most characters of the detail of a verdict."""
_LISTED = 10
"""The most entries that a verdict refers to."""


def passed(check: Check, severity: Severity = "error") -> Verdict:
    """Return the verdict of a check that found nothing."""
    return Verdict(check, passed=True, severity=severity)


def quoted(text: str) -> str:
    """Return a text of the run for the detail of a verdict: one short line."""
    return f"“{shortened(text)}”"


def shortened(text: str, most: int = _QUOTED) -> str:
    """Return the first characters of a text as one line."""
    # A margin for white space, so that a text of megabytes is not split into words.
    line = " ".join(text[: 4 * most].split())
    if len(line) > most or len(text) > 4 * most:
        return f"{line[:most]}…"
    return line


def bounded(verdict: Verdict) -> Verdict:
    """Return a verdict with short sentences, whatever a model wrote, because the journal keeps it."""
    summary = shortened(verdict.summary, _SUMMARY)
    detail = shortened(verdict.detail, _DETAIL)
    if (summary, detail) == (verdict.summary, verdict.detail):
        return verdict
    return replace(verdict, summary=summary, detail=detail)


def addresses(found: Iterable[str]) -> tuple[str, ...]:
    """Return the first addresses of entries that a verdict refers to, each once."""
    return tuple(dict.fromkeys(address for address in found if address))[:_LISTED]
