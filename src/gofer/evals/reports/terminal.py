"""The report for a terminal: one screen, failures first, then the numbers of each workflow and case."""

from collections.abc import Iterable, Iterator, Sequence

from gofer.evals.reports import wording
from gofer.evals.reports.advice import advice
from gofer.evals.reports.comparison_words import comparison_text
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import CaseResult, SuiteResult
from gofer.values.amounts import counted, money

MOST_LINES = 100
"""The most lines of the report, for any number of cases."""
MOST_FAILURES = 8
"""The most failures that are shown in four lines each; cases without evidence for the same reason count once."""
MOST_WORKFLOWS = 12
"""The most workflows in the first table."""
_MOST_NAMES = 10
"""The most names of cases in one line."""
_NAME = 48
"""The most characters of the name of a case or a workflow in a table."""

Row = Sequence[str]


def terminal_lines(result: SuiteResult) -> Sequence[str]:
    """Return the report, at most MOST_LINES lines; what is left out is counted."""
    evidence = [f"  {sentence}" for _, sentence in wording.evidence_lines(result.cases)]
    notes = [f"  {note}" for note in suite_notes(result)]
    lines = [wording.headline(result), *evidence, *notes, "", *_failures(result), *_workflows(result)]
    work: Sequence[str] = ()
    if result.exit_code:
        work = ("", advice(result))
    return [*lines, *_cases(wording.in_order(result.cases), MOST_LINES - len(lines) - len(work)), *work]


def _failures(result: SuiteResult) -> Iterator[str]:
    groups = _groups([case for case in wording.in_order(result.cases) if case.outcome != "passed"])
    for cases in groups[:MOST_FAILURES]:
        if len(cases) == 1:
            yield from _failure(cases[0])
        else:
            yield from _alike(cases)
        yield ""
    left = sum(map(len, groups[MOST_FAILURES:]))
    if left:
        yield f"{counted(left, 'more case')} did not pass; --json FILE writes all."
        yield ""


def _groups(cases: Sequence[CaseResult]) -> Sequence[Sequence[CaseResult]]:
    """Return each case by itself, but cases without evidence for the same reason together, in their order."""
    found: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        key = (case.case, "")
        if case.outcome == "no_evidence":
            key = ("", wording.failure_of(case).happened)
        found.setdefault(key, []).append(case)
    return list(found.values())


def _failure(case: CaseResult) -> Iterator[str]:
    state = wording.STATES[case.outcome]
    yield f"{wording.short(case.case)}: {state}, {wording.tally(case)} runs passed"
    for label, text in wording.failure_of(case).lines():
        yield _labelled(label, text)
    if case.comparison is not None:
        yield _labelled("baseline", comparison_text(case.comparison))


def _alike(cases: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the lines about cases that have no evidence for the same reason."""
    yield f"{counted(len(cases), 'case')}: no evidence"
    yield _labelled("happened", wording.failure_of(cases[0]).happened)
    names = ", ".join(wording.short(case.case) for case in cases[:_MOST_NAMES])
    if len(cases) > _MOST_NAMES:
        names = f"{names} and {len(cases) - _MOST_NAMES} more"
    yield _labelled("cases", names)
    yield _labelled("replay", wording.again(*cases))


def _labelled(label: str, text: str) -> str:
    return f"  {label + ':':<22} {text}"


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
    shown = cases[: most - 2]
    heading = ("case", "k/n", "latency", "consistency", "pass@k, pass^k", "state", "failures")
    table = [heading, *map(_row, shown)]
    if not any(case.repeated for case in shown):
        table = [(*row[:4], *row[5:]) for row in table]
    lines = list(_table(table[0], table[1:]))
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
        wording.repeated_text(case) or "–",
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
