"""The grades of a run as events on the span of the run, by the OpenTelemetry conventions for evaluations."""

from gofer.journal.entries import RunGraded
from gofer.journal.grade_entries import Grade
from gofer.projections.tracing.spans import RUN, SpanEvent, Trace

RESULT = "gen_ai.evaluation.result"
"""The name of the event with one grade."""
EXPLANATION = "gen_ai.evaluation.explanation"
"""The attribute with the texts of a grade, which may quote the run. Only an export with texts has it."""


def add_grades(state: Trace, graded: RunGraded) -> None:
    """Add the grades to the span of the run, at its end, because grades are given later."""
    attributes = {
        "gofer.eval.case": graded.case,
        "gofer.eval.number": graded.number,
        "gofer.eval.outcome": graded.outcome,
        "gofer.eval.evidence": graded.evidence,
    }
    state.update(RUN, attributes)
    span = state.spans.get(RUN)
    if span is not None:
        at = span.end or span.start
        state.add_events(RUN, [SpanEvent(RESULT, at, _attributes(grade)) for grade in graded.grades])


def explanation(grade: Grade) -> str:
    """Return the texts of a grade in one line: what was expected, what happened, and why the grade was given."""
    parts = {"Expected": grade.expected, "Happened": grade.happened, "Explanation": grade.explanation}
    return "; ".join(f"{label}: {text}" for label, text in parts.items() if text)


def _attributes(grade: Grade) -> dict[str, object]:
    known: dict[str, object] = {"gen_ai.evaluation.name": grade.dimension, "gofer.evaluation.blocks": grade.blocks}
    if grade.missing:
        return {**known, "error.type": grade.missing}
    value = grade.score
    if value is None:
        value = float(grade.passed)
    label = "fail"
    if grade.passed:
        label = "pass"
    return {**known, "gen_ai.evaluation.score.value": value, "gen_ai.evaluation.score.label": label}
