"""The table of `docs/reliability.md`, made anew: `make reliability`. Takes the number of schedules."""

import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from test_resume import SCHEDULES, OneCrash
from test_schedules import MUTANTS

from support.mutants import mutation_gate
from support.simulation import outage_table
from support.simulation.judge import Report
from support.simulation.plans import plan
from support.simulation.schedule import Rules, Schedule

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
COUNTED = (
    *("runs", "calls", "unknown", "needless", "takeovers", "handovers", "cancelled", "duplicates"),
    *("asked", "ignored", "stopped", "told", "delegated", "compacted"),
)
"""What is added up of all schedules."""
BEGIN, END = "<!-- made by `make reliability` -->\n", "<!-- until here -->\n"
OUTAGES_BEGIN, OUTAGES_END = "<!-- outages, made by `make reliability` -->\n", "<!-- end of outages -->\n"


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
    missing = [rule for rule in MUTANTS if missed(rule)]
    return [
        ("schedules, half on memory, half on SQLite", f"{count:,}"),
        ("more of them on DynamoDB's and SQS' semantics", f"{count // 8:,}"),
        ("runs", f"{total['runs']:,}"),
        ("repeated deliveries", f"{total['duplicates']:,}"),
        ("crashes of a machine", f"{faults['crash']:,}"),
        ("pauses of 30 to 400 seconds", f"{faults['pause']:,}"),
        ("lost answers of a store", f"{faults['lost']:,}"),
        ("throttled calls to a store", f"{faults['throttle']:,}"),
        ("effects whose answer was lost, landing up to 30 seconds late", f"{faults['late']:,}"),
        ("effects that were refused", f"{faults['refused']:,}"),
        ("questions to a model that was not there for minutes", f"{faults['absent']:,}"),
        ("takeovers of a run whose owner crashed", f"{total['takeovers']:,}"),
        ("hand-overs by an owner whose time was over", f"{total['handovers']:,}"),
        ("runs that a person cancelled", f"{total['cancelled']:,}"),
        ("questions whether a call may be made", f"{total['asked']:,}"),
        (
            "of those approved, denied, expired, or put to no person because Slack refused",
            ", ".join(f"{total[name]:,}" for name in ("approved", "denied", "expired", "nobody")),
        ),
        ("presses that did not count: of another person, too late, forged, or a second one", f"{total['ignored']:,}"),
        ("runs that a person stopped while they waited for a decision", f"{total['stopped']:,}"),
        ("calls answered with what was done for the same message before", f"{total['told']:,}"),
        ("subagents that worked in runs of their own", f"{total['delegated']:,}"),
        ("times that the beginning of a history left its window", f"{total['compacted']:,}"),
        ("violations", f"**{total['violations']}**"),
        ("calls whose outcome cannot be determined", f"{total['unknown']:,} of {total['calls']:,}"),
        ("of those needless: no fault happened during the call", f"{total['needless']:,}"),
        ("schedules in which Slack, Jira, Notion or GitHub are away for 5 seconds to 40 minutes", f"{count // 8:,}"),
        ("requests that failed because of that", f"{away['requests']:,}"),
        ("times that a run waited for a system that was away", f"{away['waits']:,}"),
        ("violations in these schedules", f"**{away['violations']}**"),
        ("seconds, the longest, that a run had no owner after one crash", f"{max(resumed()):.0f}"),
        ("rules that schedules miss when they are taken away", of(missing, len(MUTANTS))),
        (
            "rules that a named test misses when they are taken out of the source",
            of(gated(), len(mutation_gate.MUTANTS)),
        ),
    ]


def resumed() -> list[float]:
    schedules = [OneCrash(seed) for seed in range(SCHEDULES)]
    for schedule in schedules:
        schedule.run()
    return [wait for schedule in schedules for wait in schedule.waits]


def of(names: Sequence[str], count: int) -> str:
    return f"{len(names)} of {count}: {', '.join(names)}"


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
    write(table, BEGIN, END)
    # What operators see of an outage is in the log too.
    logging.disable(logging.NOTSET)
    seen = outage_table.table()
    write(seen, OUTAGES_BEGIN, OUTAGES_END)
    print(f"{table}\n\n{seen}")  # noqa: T201


def write(table: str, begin: str, end: str) -> None:
    """Put a table between two marks of the page."""
    before, rest = PAGE.read_text().split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}{table}\n{end}{after}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
