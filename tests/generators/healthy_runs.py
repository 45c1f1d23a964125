"""False alarms of the checks over healthy runs, and planted faults beside them; printed by `make healthy`."""

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.workspace_entries import ContextCompacted
from gofer.projections.checks.check_settings import Check
from support.health.planted import PLANTED, recorded
from support.health.plays import PlayedRun, healthy

RUNS = 1_000
"""Healthy runs of `make healthy`, subagent runs not counted."""
MOST_ALERTS = 0.01
"""The largest share of healthy runs that may alert. A compaction may take out a first message that fills a fifth of the
window, or a loaded skill, and the checks report both."""
CHECKS: Sequence[Check] = [name for part in get_args(Check) for name in get_args(part) or (part,)]
GROUPS = ("shipped", "clerk", "schedule")
"""The kinds of healthy runs: shipped workflows, a model on varied tasks, and runs among crashes and outages."""
SEEN: Mapping[str, type | tuple[type, ...]] = {
    "subagent runs": e.SubagentStarted,
    "compactions": ContextCompacted,
    "approvals": e.ApprovalDecided,
    "files": e.FileAdded,
    "skills": e.SkillLoaded,
    "plan changes": e.PlanUpdated,
    "waits": e.RunParked,
    "put later": e.CallDeferred,
    "hand-overs": e.RunHandedOver,
}
"""What happened in the runs, by the entries that show it."""


@dataclass
class Alarms:
    """The failed checks of healthy runs."""

    runs: Counter[str] = field(default_factory=Counter[str])
    """Healthy runs by group, subagent runs included."""
    roots: int = 0
    """Healthy runs that are no subagent runs."""
    failed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Failed checks by check and group."""
    examples: dict[str, tuple[PlayedRun, Verdict]] = field(default_factory=dict[str, tuple[PlayedRun, Verdict]])
    """The first failed verdict of each check."""
    seen: Counter[str] = field(default_factory=Counter[str])

    def add(self, played: PlayedRun) -> None:
        """Count a run, if it is healthy."""
        if not is_healthy(played):
            return
        group = played.kind.partition(":")[0]
        self.runs[group] += 1
        self.roots += "." not in played.run
        for name, kinds in SEEN.items():
            self.seen[name] += sum(isinstance(item.entry, kinds) for item in played.journal)
        for verdict in recorded(played.journal):
            if not verdict.passed:
                self.failed[verdict.check, group] += 1
                self.examples.setdefault(verdict.check, (played, verdict))


def is_healthy(played: PlayedRun) -> bool:
    """Return whether a run ended as it should: done, without a call of unknown outcome."""
    entries = [item.entry for item in played.journal]
    done = any(isinstance(entry, e.RunFinished) and entry.status == "done" for entry in entries)
    return done and not any(isinstance(entry, e.ToolUnknown) for entry in entries)


def alarms_of(plays: Iterable[Sequence[PlayedRun]], roots: int) -> Alarms:
    """Return the alarms of the first plays that together have `roots` healthy runs."""
    alarms = Alarms()
    for play in plays:
        for played in play:
            alarms.add(played)
        if alarms.roots >= roots:
            break
    return alarms


def found() -> Mapping[str, bool]:
    """Return for each planted fault whether its check failed."""
    return {name: _finds(name) for name in PLANTED}


def _finds(name: str) -> bool:
    fault = PLANTED[name]
    return any(verdict.check == fault.check and not verdict.passed for verdict in fault.plant())


def table(alarms: Alarms) -> Iterator[str]:
    """Yield the lines of the table: failed checks of healthy runs, by check and group."""
    runs = sum(alarms.runs.values())
    yield f"{alarms.roots} healthy runs, {runs} with their subagent runs, in which happened:"
    yield "  " + ", ".join(f"{count} {name}" for name, count in alarms.seen.items())
    yield ""
    yield _row(
        "failed checks of healthy runs", [f"{group} ({alarms.runs[group]})" for group in GROUPS], f"all ({runs})"
    )
    for check in CHECKS:
        counts = [alarms.failed[check, group] for group in GROUPS]
        yield _row(check, [str(count) for count in counts], f"{sum(counts)} ({sum(counts) / max(1, runs):.1%})")
    for check, (played, verdict) in alarms.examples.items():
        yield f"  {check}, as in play {played.number} of {played.kind!r}: {verdict.summary} {verdict.detail}".rstrip()


def planted_table(faults: Mapping[str, bool]) -> Iterator[str]:
    """Yield the lines of the table of planted faults."""
    yield "planted faults"
    for name, is_found in faults.items():
        verdict = "found" if is_found else "NOT FOUND"
        yield f"  {name:28}{verdict:>10}   {PLANTED[name].check}"


def _row(name: str, columns: Sequence[str], last: str) -> str:
    return f"{name:32}{''.join(f'{column:>16}' for column in columns)}{last:>16}"


def main() -> None:
    """Play and print; exit with 1 if too many healthy runs alert or a planted fault is not found."""
    logging.disable(logging.CRITICAL)
    began = time.perf_counter()
    alarms = alarms_of(healthy(), RUNS)
    faults = found()
    lines = [*table(alarms), "", *planted_table(faults), "", f"{time.perf_counter() - began:.0f} s"]
    print("\n".join(lines))  # noqa: T201
    alerts = sum(count for (check, _), count in alarms.failed.items() if is_error(check))
    sys.exit(alerts > MOST_ALERTS * sum(alarms.runs.values()) or not all(faults.values()))


WARNINGS: frozenset[str] = frozenset(
    {"llm-call-budget", "plan-call-budget", "execution-time", "no-invented-names", "no-empty-evidence"}
)


def is_error(check: str) -> bool:
    """Return whether a failed check alerts the operator."""
    return check not in WARNINGS


if __name__ == "__main__":
    main()
