"""The report for a terminal: one screen, failures first, then the numbers of each workflow and case."""

from collections.abc import Iterable, Iterator, Sequence

from gofer.evals.reports import wording
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import CaseResult, SuiteResult
from gofer.values.amounts import counted, money

MOST_LINES = 100
"""The most lines of the report, for any number of cases."""
MOST_FAILURES = 8
"""The most failures that are shown in four lines each."""
MOST_WORKFLOWS = 8
"""The most workflows in the first table."""
MOST_PASSED = 12
"""The most passed cases in the second table."""
_NAME = 48
"""The most characters of the name of a case or a workflow in a table."""

Row = Sequence[str]


def terminal_lines(result: SuiteResult) -> Sequence[str]:
    """Return the report, at most MOST_LINES lines; what is left out is counted."""
    evidence = [f"  {sentence}" for _, sentence in wording.evidence_lines(result.cases)]
    notes = [f"  {note}" for note in suite_notes(result)]
    lines = [wording.headline(result), *evidence, *notes, "", *_failures(result), *_workflows(result)]
    return [*lines, *_cases(wording.in_order(result.cases), MOST_LINES - len(lines))]


def _failures(result: SuiteResult) -> Iterator[str]:
    failed = [case for case in wording.in_order(result.cases) if wording.state_of(case) != "passed"]
    for case in failed[:MOST_FAILURES]:
        state = wording.STATES[wording.state_of(case)]
        yield f"{wording.short(case.case)}: {state}, {wording.tally(case)} runs passed"
        for label, text in wording.failure_of(case).lines():
            yield f"  {label + ':':<22} {text}"
        yield ""
    if len(failed) > MOST_FAILURES:
        yield f"{counted(len(failed) - MOST_FAILURES, 'more case')} did not pass; --json FILE writes all."
        yield ""


def _workflows(result: SuiteResult) -> Iterator[str]:
    by_workflow = wording.by_workflow(result.cases)
    rows = [_totals(name, cases) for name, cases in list(by_workflow.items())[:MOST_WORKFLOWS]]
    rows.append(_totals("all", result.cases))
    yield from _table(("workflow", "cases", "runs", "passed", "p95", "cost"), rows)
    if len(by_workflow) > MOST_WORKFLOWS:
        yield f"{counted(len(by_workflow) - MOST_WORKFLOWS, 'more workflow')}; --json FILE writes all."
    yield ""


def _totals(name: str, cases: Sequence[CaseResult]) -> Row:
    runs = sum(len(case.runs) for case in cases)
    return (
        _cut(name),
        f"{len(cases):,}",
        f"{runs:,}",
        wording.share_text(wording.pass_rate(cases)),
        wording.seconds_text(wording.p95(cases)),
        money(wording.cost_of(cases)),
    )


def _cases(cases: Sequence[CaseResult], most: int) -> Sequence[str]:
    """Return the table of cases in at most `most` lines, with its heading and the number of those left out."""
    others = sum(wording.state_of(case) != "passed" for case in cases)
    shown = cases[: min(others + MOST_PASSED, most - 2)]
    lines = list(_table(("case", "k/n", "latency", "consistency", "state", "failures"), map(_row, shown)))
    if len(shown) < len(cases):
        lines.append(f"{counted(len(cases) - len(shown), 'more case')}; --json FILE writes all.")
    return lines


def _row(case: CaseResult) -> Row:
    failed = [f"{name} ×{times}" for name, times in wording.failed_dimensions(case).items()]
    return (
        _cut(case.case),
        wording.tally(case),
        wording.seconds_text(wording.p95([case])),
        wording.share_text(case.consistency),
        wording.state_text(case),
        wording.short(", ".join(failed), 60),
    )


def _table(heading: Row, rows: Iterable[Row]) -> Iterator[str]:
    """Yield aligned lines, the heading first."""
    every = [heading, *rows]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    for row in every:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _cut(name: str) -> str:
    return wording.short(name, _NAME)
