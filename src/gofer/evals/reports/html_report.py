"""The report as one HTML file: no script, nothing from outside, light and dark, failures first.

The anchor of a case follows from its name alone, so that links to it stay valid in later reports.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gofer.evals.affected import AffectedRun, by_cause, summary
from gofer.evals.reports import wording
from gofer.evals.reports.comparison_words import comparison_text, tally_before
from gofer.evals.reports.html_style import STYLE
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import CaseResult, CaseRun, Grade, SuiteResult
from gofer.values.amounts import counted, money

MOST_DETAILED = 300
"""The most cases with their runs and grades."""
MOST_RUNS = 20
"""The most runs of one case that are shown."""
MOST_GRADES = 40
"""The most grades of one run that are shown."""
MOST_TEXT = 1_000
"""The most characters of one text."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_PLAIN = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")


def html_report(result: SuiteResult, affected: Sequence[AffectedRun] | None = None) -> str:
    """Return the report as an HTML document. `affected` holds the recorded runs, None if they were not compared."""
    body = "\n".join([*_head(result, affected), *_failures(result), *_workflows(result), *_cases(result)])
    if affected is not None:
        body = "\n".join([body, *_affected(affected)])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Gofer evals</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</main></body></html>\n"
    )


def anchor(case: str) -> str:
    """Return the id of the element about a case."""
    if _PLAIN.fullmatch(case):
        return f"case-{case}"
    return f"case-{hashlib.sha256(case.encode()).hexdigest()[:16]}"


def _head(result: SuiteResult, affected: Sequence[AffectedRun] | None) -> Iterator[str]:
    yield "<header><p class=product>Gofer evals</p>"
    yield f"<h1 class={wording.worst_state(result)}>{_text(wording.headline(result))}</h1>"
    facts = [f"commit {result.commit[:12]}"] * bool(result.commit)
    facts += ["the files differ from the commit"] * result.changed
    facts += [f"Gofer {result.gofer}"] * bool(result.gofer)
    yield f"<p class=soft>{_text(' · '.join(facts))}</p><ul class=evidence>"
    for evidence, sentence in wording.evidence_lines(result.cases):
        yield f"<li class={evidence}>{_text(sentence)}</li>"
    yield from (f"<li>{_text(note)}</li>" for note in suite_notes(result))
    yield "</ul><nav aria-label=Sections><a href=#failures>Not passed</a> <a href=#workflows>Workflows</a>"
    yield "<a href=#cases>Cases</a>"
    if affected is not None:
        yield "<a href=#recorded>Recorded runs</a>"
    yield "</nav></header><main>"


def _failures(result: SuiteResult) -> Iterator[str]:
    failed = [case for case in wording.in_order(result.cases) if case.outcome != "passed"]
    yield "<section><h2 id=failures>Not passed</h2>"
    if not failed:
        yield "<p>Every case passed.</p>"
    for case in failed[:MOST_DETAILED]:
        yield from _failure(case)
    if len(failed) > MOST_DETAILED:
        yield f"<p>{counted(len(failed) - MOST_DETAILED, 'more case')} in the JSON report.</p>"
    yield "</section>"


def _failure(case: CaseResult) -> Iterator[str]:
    state = case.outcome
    name = anchor(case.case)
    yield f'<article id="{name}" class={state}><h3><a href="#{name}">{_text(case.case)}</a> {_badge(case)}</h3>'
    yield f"<p>{_text(wording.state_sentence(case))}</p><dl>"
    lines = list(wording.failure_of(case).lines())
    if lines[-1][1] != wording.again(case):
        lines.append(("play again", wording.again(case)))
    for label, text in lines:
        yield f"<dt>{label}</dt><dd><code>{_text(text)}</code></dd>"
    yield "</dl>"
    yield from (f"<p>{_text(note)}</p>" for note in case.notes)
    if case.comparison is not None:
        yield f"<p>{_text(f'Compared with the baseline: {comparison_text(case.comparison)}.')}</p>"
    yield from _runs(case)
    yield "</article>"


def _runs(case: CaseResult) -> Iterator[str]:
    if not case.runs:
        return
    yield f"<details><summary>{counted(len(case.runs), 'run')}: {_text(wording.evidence_text(case))}</summary>"
    for run in case.runs[:MOST_RUNS]:
        yield from _run(run)
    if len(case.runs) > MOST_RUNS:
        yield f"<p>{counted(len(case.runs) - MOST_RUNS, 'more run')} in the JSON report.</p>"
    yield "</details>"


def _run(run: CaseRun) -> Iterator[str]:
    facts = [
        run.outcome.replace("_", " "),
        f"status {run.status or '–'}",
        wording.seconds_text(run.measured_ms),
        money(run.cost_usd),
        f"{run.input_tokens:,} tokens in, {run.output_tokens:,} out",
        counted(run.llm_calls, "model call"),
        counted(run.tool_calls, "tool call"),
        *run.models,
    ]
    yield f"<h4>Run {run.number}</h4><p>{_text(' · '.join(facts))}</p>"
    if run.problem:
        yield f"<p>{_text(run.problem)}</p>"
    if run.runs:
        yield f"<p class=soft>Open: <code>gofer trace {_text(run.runs[-1])}</code></p>"
    grades = sorted(run.grades, key=lambda grade: grade.passed)[:MOST_GRADES]
    if grades:
        rows = [_grade(grade) for grade in grades]
        yield from _table("Grades", ("grade", "verdict", "expected", "happened", "step", "reason"), rows)


def _grade(grade: Grade) -> Sequence[str]:
    texts = (
        grade.dimension,
        wording.verdict_text(grade),
        grade.expected,
        grade.happened,
        grade.step,
        grade.explanation,
    )
    return [_text(text) for text in texts]


def _workflows(result: SuiteResult) -> Iterator[str]:
    yield "<section><h2 id=workflows>Workflows</h2>"
    rows = [
        (
            _text(workflow),
            f"{len(cases):,}",
            f"{sum(len(case.runs) for case in cases):,}",
            wording.share_text(wording.pass_rate(cases)),
            wording.seconds_text(wording.p95(cases)),
            money(wording.cost_of(cases)),
        )
        for workflow, cases in wording.by_workflow(result.cases).items()
    ]
    yield from _table("Workflows", ("workflow", "cases", "runs", "pass rate", "p95", "cost"), rows)
    yield "</section>"


def _cases(result: SuiteResult) -> Iterator[str]:
    yield "<section><h2 id=cases>Cases</h2>"
    heading = (
        "case",
        "state",
        "passed",
        "before",
        "interval",
        "consistency",
        "pass@k, pass^k",
        "p95",
        "cost",
        "failed grades",
    )
    yield from _table("Cases", heading, [_case_row(case) for case in wording.in_order(result.cases)])
    yield "</section>"


def _case_row(case: CaseResult) -> Sequence[str]:
    name = anchor(case.case)
    failed = ", ".join(f"{dimension} ×{times}" for dimension, times in wording.failed_dimensions(case).items())
    # The anchor of a case that did not pass is at its details above.
    link = f'<a href="#{name}">{_text(case.case)}</a>'
    if case.outcome == "passed":
        link = f'<a id="{name}" href="#{name}">{_text(case.case)}</a>'
    return (
        link,
        _badge(case),
        wording.tally(case),
        tally_before(case.comparison),
        wording.interval_text(case.interval) or "–",
        wording.share_text(case.consistency),
        wording.repeated_text(case) or "–",
        wording.seconds_text(wording.p95([case])),
        money(wording.cost_of([case])),
        _text(failed),
    )


def _affected(affected: Sequence[AffectedRun]) -> Iterator[str]:
    yield f"<section><h2 id=recorded>Recorded runs</h2><p>{_text(summary(affected))}</p>"
    for workflow, causes in by_cause(affected).items():
        yield f"<h3>{_text(workflow)}</h3><ul>"
        for title, number in causes.items():
            yield f"<li><code>{_text(title)}</code> changes {counted(number, 'run')}</li>"
        yield "</ul>"
        yield from _affected_runs([run for run in affected if run.workflow == workflow and run.causes])
    yield "</section>"


def _affected_runs(runs: Sequence[AffectedRun]) -> Iterator[str]:
    yield f"<details><summary>{counted(len(runs), 'run')}</summary>"
    for run in runs[:MOST_DETAILED]:
        yield f"<p><code>{_text(run.run)}</code> from request {run.first} of {run.requests}. {_text(run.next_step)}</p>"
        for cause in run.causes:
            lines = "\n".join(map(_text, cause.lines))
            yield f"<p>{_text(cause.title)}</p><pre>{lines}</pre>"
    yield "</details>"


def _badge(case: CaseResult) -> str:
    state = case.outcome
    return f"<span class='badge {state}'>{wording.state_text(case)}</span>"


def _table(label: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of HTML cells that scrolls by itself on a narrow screen."""
    yield f'<div class=wide role=region tabindex=0 aria-label="{label}"><table><thead><tr>'
    yield "".join(f"<th scope=col>{name}</th>" for name in heading)
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in row[1:])
        yield f"<tr><th scope=row>{row[0]}</th>{cells}</tr>"
    yield "</tbody></table></div>"


def _text(text: str) -> str:
    return escape(wording.short(text, MOST_TEXT))
