"""The report as Markdown: the comment on a pull request, and the summary of a step.

The comment shows what a reviewer must know first: what to do, the verdict, the failures, the cases that changed, and
the recorded runs that the change affects. Costs, reasons of judges and remarks are folded. It never has more than
MOST_BYTES bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from gofer.evals.affected import AffectedRun, Cause, by_cause, summary
from gofer.evals.grading.dimensions import JUDGE
from gofer.evals.reports import wording
from gofer.evals.reports.advice import advice
from gofer.evals.reports.comparison_words import tally_before, worse_words
from gofer.evals.reports.markdown_text import MOST_CHARACTERS, BoundedText, block, cell, code
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import CaseResult, CaseRun, Grade, SuiteResult
from gofer.values.amounts import counted, money

MOST_BYTES = 60_000
"""The most bytes of the report; forges refuse comments of more than 65,536 characters."""
MARKER = "<!-- gofer-evals -->"
"""The last line, by which a workflow finds its earlier comment."""
MOST_FAILURES = 10
MOST_NOTES = 3
MOST_NOTE = 1_000
"""The most characters of a sentence about the whole suite."""
MOST_CASES = 50
MOST_AFFECTED = 40
MOST_REASONS = 30
MOST_ANSWERS = 10
MOST_LINES = 12
"""The most lines of an answer that is shown beside an earlier one."""
_DETAILS_END = ("", "</details>", "")


def markdown_report(
    result: SuiteResult,
    *,
    before: SuiteResult | None = None,
    affected: Sequence[AffectedRun] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the report as Markdown.

    `before` is the baseline. `affected` holds the recorded runs, None if they were not compared. `notes` are lines of
    Markdown for the end.
    """
    page = BoundedText(MOST_BYTES - len(MARKER) - 1)
    page.add([f"### {wording.sign_of(result)} {advice(result)}", "", wording.headline(result), ""])
    page.add([*(f"- {sentence}" for _, sentence in wording.evidence_lines(result.cases))])
    page.add([*(f"- {cell(note, MOST_NOTE)}" for note in suite_notes(result)), ""])
    _add_failures(page, result)
    _add_changed_cases(page, result)
    if before is not None:
        _add_answers(page, result, before)
    if affected is not None:
        _add_affected(page, affected)
    if result.cases:
        _add_costs(page, result, before)
    _add_reasons(page, result)
    page.add([*notes, ""])
    page.add(_footer(result))
    return f"{page.text()}{MARKER}\n"


def _add_failures(page: BoundedText, result: SuiteResult) -> None:
    failed = [case for case in wording.in_order(result.cases) if wording.is_failure(case)]
    if failed:
        page.add_rows([], [_failure(case) for case in failed], [""], most=MOST_FAILURES)


def _failure(case: CaseResult) -> Sequence[str]:
    state = case.outcome
    lines = [
        f"**{wording.SIGNS[state]} {code(case.case)}** {wording.STATES[state]}, {wording.tally(case)} runs passed",
        "",
    ]
    lines += [f"- {label}: {code(text, 300)}" for label, text in wording.failure_of(case, kept=False).lines()]
    if repeated := wording.repeated_text(case):
        lines.append(f"- pass@k, pass^k: {repeated}")
    lines += [f"- note: {code(note, 300)}" for note in case.notes[:MOST_NOTES]]
    return [*lines, ""]


def _add_changed_cases(page: BoundedText, result: SuiteResult) -> None:
    changed = [case for case in wording.in_order(result.cases) if _is_changed(case)]
    if not changed:
        return
    opening = ["| case | main | this change | what diverged | replay |", "|---|---|---|---|---|"]
    page.add_rows(opening, [[_changed_row(case)] for case in changed], [""], most=MOST_CASES)


def _is_changed(case: CaseResult) -> bool:
    """Return whether a case did not pass, passed more or less often than before, or costs or takes much more."""
    if case.outcome != "passed":
        return True
    comparison = case.comparison
    if comparison is None:
        return False
    is_better = comparison.now.passed * comparison.before.runs > comparison.before.passed * comparison.now.runs
    return is_better or bool(worse_words(comparison))


def _changed_row(case: CaseResult) -> str:
    state = case.outcome
    diverged = f"{wording.SIGNS[state]} {wording.STATES[state]}"
    if failed := wording.failed_dimensions(case):
        diverged = f"{diverged}: {cell(', '.join(failed), 80)}"
    if worse := worse_words(case.comparison):
        diverged = f"{diverged}; {'; '.join(worse)}"
    cells = (
        cell(case.case, 120),
        tally_before(case.comparison),
        wording.tally(case),
        diverged,
        cell(wording.again(case), 160),
    )
    return f"| {' | '.join(cells)} |"


def _add_answers(page: BoundedText, result: SuiteResult, before: SuiteResult) -> None:
    """Add the answer before and now of each case with another prompt, workflow, skill or tool and another answer."""
    earlier = {case.case: case for case in before.cases}
    pairs = [(case, _answered(earlier[case.case]), _answered(case)) for case in result.cases if case.case in earlier]
    rows = [_answers(case, was, now) for case, was, now in pairs if was and now and _is_rewritten(was, now)]
    if rows:
        opening = ["<details open><summary>Answers before → now</summary>", ""]
        page.add_rows(opening, rows, _DETAILS_END, most=MOST_ANSWERS)


def _answered(case: CaseResult) -> CaseRun | None:
    """Return the first run that was graded and has an answer."""
    return next((run for run in case.runs if run.answer and run.outcome in ("passed", "failed")), None)


def _is_rewritten(was: CaseRun, now: CaseRun) -> bool:
    return was.agent_version != now.agent_version and was.answer != now.answer


def _answers(case: CaseResult, was: CaseRun, now: CaseRun) -> Sequence[str]:
    return [f"{code(case.case)} before:", "", *_shown(was.answer), "", "now:", "", *_shown(now.answer), ""]


def _shown(answer: str) -> Sequence[str]:
    lines = [part for line in answer.splitlines() for part in wrap(line, MOST_CHARACTERS) or [""]]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    return block(lines)


def _add_affected(page: BoundedText, affected: Sequence[AffectedRun]) -> None:
    page.add([f"**Recorded runs:** {summary(affected)}", ""])
    if not any(run.causes for run in affected):
        return
    rows = [
        _affected_row(workflow, title, number, affected)
        for workflow, causes in by_cause(affected).items()
        for title, number in causes.items()
    ]
    rows += [[f"- {code(run.run)}: {code(run.next_step)}"] for run in affected if run.next_step]
    opening = ["<details><summary>What changes in which recorded runs</summary>", ""]
    page.add_rows(opening, rows, _DETAILS_END, most=MOST_AFFECTED)


def _affected_row(workflow: str, title: str, number: int, affected: Sequence[AffectedRun]) -> Sequence[str]:
    run, cause = _example(workflow, title, affected)
    first = f"from request {cause.first} of {run.requests}"
    if cause.kind == "script":
        first = "from the beginning"
    head = f"{code(workflow)}: {code(title)} changes {counted(number, 'run')}, such as {code(run.run)} {first}."
    if not cause.lines:
        return [head, ""]
    return [head, "", *block(cause.lines, "diff"), ""]


def _example(workflow: str, title: str, affected: Sequence[AffectedRun]) -> tuple[AffectedRun, Cause]:
    """Return the first run of a workflow with a cause, and this cause."""
    return next(
        (run, cause) for run in affected for cause in run.causes if run.workflow == workflow and cause.title == title
    )


def _add_costs(page: BoundedText, result: SuiteResult, before: SuiteResult | None) -> None:
    earlier: Mapping[str, Sequence[CaseResult]] = {}
    if before is not None:
        played = {case.case for case in result.cases}
        earlier = wording.by_workflow([case for case in before.cases if case.case in played])
    opening = [
        "<details><summary>Cost and tokens of one run of each workflow, before → now</summary>",
        "",
        "| workflow | cost | tokens in | tokens out |",
        "|---|---:|---:|---:|",
    ]
    rows = [
        [_cost_row(workflow, earlier.get(workflow), cases)]
        for workflow, cases in wording.by_workflow(result.cases).items()
    ]
    page.add_rows(opening, rows, _DETAILS_END, most=MOST_CASES)


def _cost_row(workflow: str, before: Sequence[CaseResult] | None, now: Sequence[CaseResult]) -> str:
    spent = [f"{one} → {two}" for one, two in zip(_spent(before), _spent(now), strict=True)]
    return f"| {' | '.join([cell(workflow, 80), *spent])} |"


def _spent(cases: Sequence[CaseResult] | None) -> Sequence[str]:
    """Return the mean cost and the mean tokens of one run; dashes without runs."""
    runs = [run for case in cases or () for run in case.runs]
    if not runs:
        return ("–", "–", "–")
    cost = wording.cost_of(cases or ())
    if cost is not None:
        cost /= len(runs)
    tokens_in = sum(run.input_tokens for run in runs) / len(runs)
    tokens_out = sum(run.output_tokens for run in runs) / len(runs)
    return (money(cost), f"{tokens_in:,.0f}", f"{tokens_out:,.0f}")


def _add_reasons(page: BoundedText, result: SuiteResult) -> None:
    reasons = [[_reason(case, run, grade)] for case, run, grade in _judged(result)]
    if reasons:
        opening = ["<details><summary>Reasons of the judge</summary>", ""]
        page.add_rows(opening, reasons, _DETAILS_END, most=MOST_REASONS)


def _reason(case: CaseResult, run: CaseRun, grade: Grade) -> str:
    about = f"- {code(case.case)} run {run.number}, {code(grade.dimension)}: {wording.verdict_text(grade)}."
    return f"{about} {code(grade.explanation, 400)}"


def _judged(result: SuiteResult) -> Iterator[tuple[CaseResult, CaseRun, Grade]]:
    """Yield the verdicts of judges that have a reason, the failed ones first."""
    found = [
        (case, run, grade)
        for case in result.cases
        for run in case.runs
        for grade in run.grades
        if grade.explanation and not grade.missing and grade.dimension.startswith(JUDGE)
    ]
    yield from sorted(found, key=lambda one: one[2].passed)


def _footer(result: SuiteResult) -> Sequence[str]:
    parts: list[str] = []
    if result.commit:
        parts.append(f"Commit {code(result.commit[:12])}.")
    if result.changed:
        parts.append("The files differ from the commit.")
    if result.gofer:
        parts.append(f"Gofer {code(result.gofer)}.")
    if not parts:
        return []
    return [f"<sub>{' '.join(parts)}</sub>", ""]
