"""The grades of a run on its page, if an eval started the run."""

from collections.abc import Mapping
from html import escape

from gofer.projections.words.step_details import eval_of, grades_of
from gofer.projections.words.steps import cut
from gofer.runtime.run_record import RunRecord
from gofer.values.amounts import counted
from gofer.values.canonical_json import as_text

STYLE = """
details.grades { margin: .8rem 0; border-left: 3px solid var(--good); padding-left: .8rem }
details.grades.with-fail { border-color: var(--bad) } details.grades.without-verdict { border-color: var(--warn) }
.grades table { border-collapse: collapse; font-size: 13px; margin: .3rem 0; width: 100% }
.grades th { text-align: left; color: var(--soft); font-weight: 500 } .grades tr { border-top: 1px solid var(--line) }
.grades td, .grades th { padding: .2rem .8rem .2rem 0; vertical-align: top; overflow-wrap: break-word }
.grades summary { white-space: normal } .grades .quote { overflow-wrap: anywhere }
.grades .fail { color: var(--bad); font-weight: 600 } .grades .pass { color: var(--good) }
.grades .advisory { color: var(--warn) } .grades .verdict, .grades .score { white-space: nowrap }
@media (max-width: 40rem) { .grades thead { display: none } .grades tr { display: block; padding: .3rem 0 }
  .grades td { display: block; padding: 0; border: 0 } .grades td:empty { display: none }
  .grades td[data-of]::before { content: attr(data-of) ": "; color: var(--soft) } }
"""

_TEXT = 2_000
"""The most characters of one text of a grade."""


def grade_table(record: RunRecord) -> str:
    """Return the grades of a run as HTML; empty for a run without grades."""
    played = eval_of(record.progress)
    if played is None:
        return ""
    grades = grades_of(record.progress)
    others = [grade for grade in grades if not grade["passed"]]
    outcome = as_text(played["outcome"])
    words = outcome.replace("_", " ")
    said = (
        f"eval <code>{escape(as_text(played['case']))}</code>, run {played['number']}, {played['evidence']} answers: "
        f'<span class="verdict {_class(outcome)}">{escape(words)}</span>, '
        f"{len(grades) - len(others)} of {counted(len(grades), 'grade')} passed"
    )
    opened = ""
    if others:
        opened = " open"
    rows = "".join(map(_row, [*others, *(grade for grade in grades if grade["passed"])]))
    names = "".join(f"<th>{name}" for name in ("grade", "verdict", "score", "expected", "happened", "at"))
    head = f"<thead><tr>{names}</thead>"
    table = f"<table>{head}{rows}</table>"
    return f'<details class="grades {_frame(outcome)}"{opened}><summary>{said}</summary>{table}</details>'


def _row(grade: Mapping[str, object]) -> str:
    verdict = "passed"
    style = "pass"
    if grade["missing"]:
        verdict = "no verdict"
        style = "advisory"
    elif not grade["passed"] and grade["blocks"]:
        verdict = "failed"
        style = "fail"
    elif not grade["passed"]:
        verdict = "failed, does not block"
        style = "advisory"
    score = ""
    if isinstance(grade["score"], float | int):
        score = f"{grade['score']:.2f}"
    return (
        f'<tr><td><code>{escape(as_text(grade["dimension"]))}</code><td class="verdict {style}">{verdict}'
        f'<td class="score" data-of="score">{score}<td class="quote" data-of="expected">{_text(grade, "expected")}'
        f'<td class="quote" data-of="happened">{_text(grade, "happened") or _text(grade, "explanation")}'
        f'<td data-of="at">{_text(grade, "step")}'
    )


def _frame(outcome: str) -> str:
    match outcome:
        case "passed":
            return "with-pass"
        case "failed":
            return "with-fail"
        case _:
            return "without-verdict"


def _class(outcome: str) -> str:
    if outcome == "passed":
        return "pass"
    return "fail"


def _text(grade: Mapping[str, object], name: str) -> str:
    return escape(cut(as_text(grade[name]), _TEXT))
