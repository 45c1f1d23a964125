"""The tables of `docs/reliability.md`, made by `make reliability`. Takes the number of schedules."""

import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from test_resume import SCHEDULES, OneCrash
from test_schedules import MUTANTS

from generators import outages
from support.mutants import mutation_gate
from support.simulation.judge import Report
from support.simulation.plans import plan
from support.simulation.schedule import Rules, Schedule

COUNTED = (
    *("runs", "calls", "unknown", "needless", "takeovers", "handovers", "cancelled", "duplicates"),
    *("asked", "ignored", "stopped", "told", "delegated", "compacted"),
)
"""The figures that are added up over all schedules."""
BEGIN, END = "<!-- made by `make reliability` -->\n", "<!-- until here -->\n"


def rows(count: int) -> list[tuple[str, str]]:
    faults: Counter[str] = Counter()
    total = Counter[str]()
    kinds = [("memory", "sqlite")[seed % 2] for seed in range(count)]
    for seed, kind in [*enumerate(kinds), *((seed, "dynamodb") for seed in range(count // 8))]:
        report = played(seed, kind)
        faults += report.faults
        total["violations"] += len(report.violations)
        total.update(report.decided)
        for name in COUNTED:
            total[name] += getattr(report, name)
    away = Counter[str]()
    for seed in range(count // 8):
        report = played(seed, ("memory", "sqlite")[seed % 2], Rules(outages=1.0))
        away.update(requests=report.faults["outage"], waits=report.waited, violations=len(report.violations))
    detected = [rule for rule in MUTANTS if missed(rule)]
    return [
        ("schedules, half on the memory store, half on SQLite", f"{count:,}"),
        ("further schedules on simulated DynamoDB and SQS", f"{count // 8:,}"),
        ("runs", f"{total['runs']:,}"),
        ("repeated deliveries", f"{total['duplicates']:,}"),
        ("crashed machines", f"{faults['crash']:,}"),
        ("machines frozen for 30 to 400 seconds", f"{faults['pause']:,}"),
        ("store requests with a lost answer", f"{faults['lost']:,}"),
        ("throttled store requests", f"{faults['throttle']:,}"),
        ("effects up to 30 seconds late, with their answer lost", f"{faults['late']:,}"),
        ("refused effects", f"{faults['refused']:,}"),
        ("model requests during an outage of the model", f"{faults['absent']:,}"),
        ("takeovers after an owner crashed", f"{total['takeovers']:,}"),
        ("hand-overs at an owner's deadline", f"{total['handovers']:,}"),
        ("runs cancelled by a person", f"{total['cancelled']:,}"),
        ("approval requests", f"{total['asked']:,}"),
        (
            "decisions: approved, denied, expired, none because Slack refused the question",
            ", ".join(f"{total[name]:,}" for name in ("approved", "denied", "expired", "nobody")),
        ),
        ("button presses that did not count (wrong person, late, forged, repeated)", f"{total['ignored']:,}"),
        ("runs stopped while they waited for a decision", f"{total['stopped']:,}"),
        ("calls answered with the earlier result for the same message", f"{total['told']:,}"),
        ("subagent runs", f"{total['delegated']:,}"),
        ("compactions of a conversation", f"{total['compacted']:,}"),
        ("violations", f"**{total['violations']}**"),
        ("calls with the outcome `unknown`", f"{total['unknown']:,} of {total['calls']:,}"),
        ("of these, without a fault during the call", f"{total['needless']:,}"),
        ("schedules with outages of Slack, Jira, Notion or GitHub", f"{count // 8:,}"),
        ("requests that failed in these outages", f"{away['requests']:,}"),
        ("times a run was parked for these outages", f"{away['waits']:,}"),
        ("violations in these schedules", f"**{away['violations']}**"),
        ("longest time without an owner after a crash, in seconds", f"{max(resumed()):.0f}"),
        ("removed rules that the schedules detect", of(detected, list(MUTANTS))),
        (
            "removed rules that their named test detects",
            of(gated(), [mutant.rule for mutant in mutation_gate.MUTANTS]),
        ),
    ]


def resumed() -> list[float]:
    schedules = [OneCrash(seed) for seed in range(SCHEDULES)]
    for schedule in schedules:
        schedule.run()
    return [wait for schedule in schedules for wait in schedule.waits]


def of(detected: Sequence[str], rules: Sequence[str]) -> str:
    """Return how many rules are detected, and the names of the others."""
    others = [rule for rule in rules if rule not in detected]
    return f"{len(rules) - len(others)} of {len(rules)}" + (f", not {', '.join(others)}" if others else "")


def gated() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return mutation_gate.caught(Path(folder))


def missed(rule: str) -> bool:
    rules, at_most, matters = MUTANTS[rule]
    seeds = (seed for seed in range(at_most) if matters(plan(seed)))
    return any(Schedule(seed, "memory", rules).run().violations for seed in seeds)


def played(seed: int, kind: str, rules: Rules | None = None) -> Report:
    """Play a schedule and print its violations, with the command that repeats it."""
    report = Schedule(seed, kind, rules).run()
    for violation in report.violations:
        print(f"--seed {seed} --store {kind}: {violation}", file=sys.stderr)  # noqa: T201
    return report


def main(count: int) -> None:
    logging.disable(logging.CRITICAL)
    table = "\n".join(["| what | how many |", "|---|---|", *(f"| {what} | {n} |" for what, n in rows(count))])
    outages.write(table, BEGIN, END)
    print(table)  # noqa: T201
    # The run reports of operators include the log.
    logging.disable(logging.NOTSET)
    outages.main()


if __name__ == "__main__":
    main(int(sys.argv[1]))
