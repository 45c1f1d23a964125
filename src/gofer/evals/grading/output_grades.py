"""The grades of the answer that people get."""

from collections.abc import Iterator

from gofer.evals.eval_file import OutputExpectations
from gofer.evals.grading.call_words import joined, written_value
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.folded_text import ComparedText, compared
from gofer.evals.grading.turn_view import TurnView
from gofer.evals.matching import field_at, mismatch
from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import quoted


def output_grades(expect: OutputExpectations, turn: TurnView) -> Iterator[Grade]:
    """Yield the grades of the expectations that are written."""
    text = compared(turn.answer)
    if expect.contains_any:
        yield from verdicts("output.contains_any", _contains_any(expect, turn, text), turn.number)
    if expect.contains_all:
        yield from verdicts("output.contains_all", _contains_all(expect, turn, text), turn.number)
    if expect.not_contains:
        yield from verdicts("output.not_contains", _not_contains(expect, turn, text), turn.number)
    if expect.json_fields:
        yield from verdicts("output.json", _json(expect, turn), turn.number)


def answer_in_words(turn: TurnView) -> str:
    """Return the beginning of the answer, or why there is none."""
    if turn.answer.strip():
        return f"the answer is {quoted(turn.answer)}"
    return f"there is no answer; the run is {turn.status}"


def _contains_any(expect: OutputExpectations, turn: TurnView, text: ComparedText) -> Iterator[Failure]:
    for texts in expect.contains_any:
        if not any(map(text.contains, texts)):
            wanted = joined([quoted(one) for one in texts], "or")
            yield Failure(f"{wanted} in the answer", answer_in_words(turn), turn.last_step)


def _contains_all(expect: OutputExpectations, turn: TurnView, text: ComparedText) -> Iterator[Failure]:
    for wanted in expect.contains_all:
        if not text.contains(wanted):
            yield Failure(f"{quoted(wanted)} in the answer", answer_in_words(turn), turn.last_step)


def _not_contains(expect: OutputExpectations, turn: TurnView, text: ComparedText) -> Iterator[Failure]:
    for unwanted in expect.not_contains:
        if place := text.around(unwanted):
            happened = f"the answer contains {quoted(place)}"
            yield Failure(f"no {quoted(unwanted)} in the answer", happened, turn.last_step)


def _json(expect: OutputExpectations, turn: TurnView) -> Iterator[Failure]:
    concluded = turn.progress.concluded
    for name, matcher in expect.json_fields.items():
        if concluded is None or concluded.output is None:
            happened = f"the answer has no fields; {answer_in_words(turn)}"
            yield Failure(f"the field {name} in the answer", happened, turn.last_step)
        elif problem := mismatch(matcher, field_at(concluded.output, name), name):
            yield Failure(f"the field {name} like {written_value(matcher)}", problem, turn.last_step)
