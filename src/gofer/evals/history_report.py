"""The history of a case for people and programs: each `gofer eval` of it, and where its pass rate moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from gofer.evals.history import PastRun
from gofer.evals.statistics import percentile
from gofer.journal.grade_entries import Evidence
from gofer.values.amounts import counted, money

MOST_LINES = 50
"""The newest evals that the table lists."""
_NAMED = 3
"""The dimensions that the table names for one eval."""
_VERSION = 12
"""The characters of a commit and of a version that the table shows."""


@dataclass(frozen=True, slots=True)
class PastEval:
    """The runs of a case that were played in one `gofer eval` with one version and one kind of answers."""

    at: float
    """Unix seconds of its begin."""
    commit: str
    changed: bool
    agent_version: str
    evidence: Evidence
    runs: Sequence[PastRun]

    @property
    def graded(self) -> Sequence[PastRun]:
        """The runs with a verdict."""
        return [run for run in self.runs if run.outcome in ("passed", "failed")]

    @property
    def passed(self) -> int:
        """The number of runs that passed."""
        return sum(run.outcome == "passed" for run in self.runs)

    @property
    def pass_rate(self) -> float | None:
        """The share of the graded runs that passed; None without graded runs."""
        if not self.graded:
            return None
        return self.passed / len(self.graded)

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile of the latency of the graded runs, in milliseconds; None without runs of a live model."""
        return percentile([run.latency_ms for run in self.graded if run.evidence == "live"], 0.95)

    @property
    def cost_usd(self) -> float | None:
        """US dollars of all runs; None if a price was unknown."""
        known = [run.cost_usd for run in self.runs if run.cost_usd is not None]
        if len(known) < len(self.runs):
            return None
        return sum(known)

    @property
    def failed_dimensions(self) -> Mapping[str, int]:
        """The number of runs that failed in each dimension, the most frequent first."""
        counts: dict[str, int] = {}
        for run in self.graded:
            for dimension, passed in run.verdicts.items():
                if not passed:
                    counts[dimension] = counts.get(dimension, 0) + 1
        return dict(sorted(counts.items(), key=lambda count: (-count[1], count[0])))


def past_evals(runs: Sequence[PastRun]) -> Sequence[PastEval]:
    """Return the evals of a case, the oldest first."""
    ordered = sorted(runs, key=_identity)
    return [_past_eval(list(group)) for _, group in groupby(ordered, key=_identity)]


def history_lines(case: str, runs: Sequence[PastRun]) -> Sequence[str]:
    """Return the history of a case as lines for a terminal: a table of its newest evals, the newest last."""
    evals = past_evals(runs)
    if not evals:
        return [f"{case} has no history here; `gofer eval` writes it with the first run of the case."]
    rows = [(*_cells(past), _change(evals[:number], past)) for number, past in enumerate(evals)][-MOST_LINES:]
    table = [("date (UTC)", "commit", "agent version", "answers", "passed", "p95", "cost", ""), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    title = f"{case}: {counted(len(evals), 'eval')}, {counted(len(runs), 'run')}"
    lines = [title, *("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in table)]
    if len(evals) > len(rows):
        lines.append(f"({len(evals) - len(rows)} earlier evals: `--json` has them)")
    if any(past.changed for past in evals):
        lines.append("+ after a commit: the files differed from it")
    return [line.rstrip() for line in lines]


def history_json(case: str, runs: Sequence[PastRun]) -> Mapping[str, object]:
    """Return the history of a case for programs: each eval with its figures and its runs, the oldest first."""
    evals = past_evals(runs)
    shown = [{**_figures(past), "change": _change(evals[:number], past)} for number, past in enumerate(evals)]
    return {"case": case, "evals": shown}


def _identity(run: PastRun) -> tuple[float, str, str]:
    return (run.suite_at, run.agent_version, run.evidence)


def _past_eval(runs: Sequence[PastRun]) -> PastEval:
    first = runs[0]
    # A suite that was resumed played a run again if it had been broken off before the run was kept.
    newest = {run.number: run for run in runs}
    return PastEval(
        at=first.suite_at,
        commit=first.commit,
        changed=first.changed,
        agent_version=first.agent_version,
        evidence=first.evidence,
        runs=[newest[number] for number in sorted(newest)],
    )


def _cells(past: PastEval) -> tuple[str, ...]:
    commit = past.commit[:_VERSION] or "-"
    if past.changed:
        commit = f"{commit}+"
    passed = f"{past.passed} of {len(past.graded)}"
    without = len(past.runs) - len(past.graded)
    if without:
        passed = f"{passed}, {without} without verdict"
    p95 = "-"
    if past.p95_ms is not None:
        p95 = f"{past.p95_ms / 1000:,.1f} s"
    date = f"{datetime.fromtimestamp(past.at, UTC):%Y-%m-%d %H:%M}"
    return (date, commit, past.agent_version[:_VERSION] or "-", past.evidence, passed, p95, money(past.cost_usd))


def _change(earlier: Sequence[PastEval], past: PastEval) -> str:
    """Return how the pass rate moved since the last eval with the same kind of answers, and why it may have moved."""
    alike = [one for one in earlier if one.evidence == past.evidence and one.pass_rate is not None]
    if not alike:
        return ""
    before = alike[-1]
    parts: list[str] = []
    rate = past.pass_rate
    if rate is not None and before.pass_rate is not None and rate != before.pass_rate:
        word = "rose"
        if rate < before.pass_rate:
            word = "fell"
        parts.append(f"{word} from {before.pass_rate:.0%} to {rate:.0%}")
    if past.agent_version != before.agent_version:
        parts.append("new agent version")
    if _models(past) != _models(before):
        parts.append(f"models: {', '.join(_models(past)) or 'none'}")
    if parts and past.failed_dimensions:
        parts.append(f"failed: {_names(list(past.failed_dimensions))}")
    return "; ".join(parts)


def _names(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def _models(past: PastEval) -> Sequence[str]:
    return sorted({model for run in past.runs for model in run.models})


def _figures(past: PastEval) -> Mapping[str, object]:
    return {
        "at": datetime.fromtimestamp(past.at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "commit": past.commit,
        "changed": past.changed,
        "agent_version": past.agent_version,
        "models": _models(past),
        "evidence": past.evidence,
        "passed": past.passed,
        "graded": len(past.graded),
        "pass_rate": past.pass_rate,
        "p95_ms": past.p95_ms,
        "cost_usd": past.cost_usd,
        "failed_dimensions": dict(past.failed_dimensions),
        "runs": [run.model_dump(mode="json") for run in past.runs],
    }
