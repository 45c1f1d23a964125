"""The grades of the answer that people get, and of the texts that they must not see anywhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gofer.evals.eval_file import OutputExpectations
from gofer.evals.grading.call_words import joined, tool_name, written_value
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.folded_text import ComparedText, compared
from gofer.evals.grading.turn_view import TurnView
from gofer.evals.matching import field_at, mismatch
from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import quoted, shortened
from gofer.projections.checks.names_in_arguments import texts_without_names
from gofer.values.visible import Visible

_NAME = 100
"""The most characters of an argument, and of a place."""


def output_grades(expect: OutputExpectations, turn: TurnView) -> Iterator[Grade]:
    """Yield the grades of the expectations that are written."""
    text = compared(turn.answer)
    if expect.contains_any:
        yield from verdicts("output.contains_any", _contains_any(expect, turn, text), turn.number)
    if expect.contains_all:
        yield from verdicts("output.contains_all", _contains_all(expect, turn, text), turn.number)
    if expect.not_contains:
        yield from verdicts("output.not_contains", unwanted_failures(expect.not_contains, turn), turn.number)
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


def unwanted_failures(unwanted: Sequence[str], turn: TurnView) -> Iterator[Failure]:
    """Yield a failure for each text that people see in the answer, or in anything else that the run wrote outside."""
    texts = [Shown(words="the answer", text=turn.answer, step=turn.last_step), *written_texts(turn)]
    texts += [Shown(words=_place(seen), text=seen.text, step=turn.last_step) for seen in turn.played.seen]
    yield from found_texts(unwanted, texts, turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A text that people see of a run."""

    words: str
    """Where it is, for people: `the answer`."""
    text: str
    step: str
    has_arrived: bool = True
    """Whether people see it as it is. False if the world shows what a system made of its markup."""


def written_texts(turn: TurnView) -> Iterator[Shown]:
    """Yield the texts in the arguments of the calls that wrote outside, or may have; names of objects are no texts."""
    for made in turn.calls:
        if made.call.effect in (None, "read") or made.call.status not in ("ok", "unknown"):
            continue
        has_arrived = made.call.tool.partition("_")[0] not in (turn.systems or ())
        for argument, text in texts_without_names(made.call.arguments or {}):
            words = f"`{shortened(argument, _NAME)}` of {tool_name(made)} ({made.name})"
            yield Shown(words=words, text=text, step=made.step, has_arrived=has_arrived)


def found_texts(unwanted: Sequence[str], shown: Sequence[Shown], turn: TurnView) -> Iterator[Failure]:
    """Yield a failure for each unwanted text, with the first place where it is shown."""
    compared_texts = [(one, compared(one.text)) for one in shown]
    for text in unwanted:
        # A tool writes markup such as `<!channel>` as plain text, so that its argument does not show what arrived.
        places = [(one, form.around(text)) for one, form in compared_texts if one.has_arrived or "<" not in text]
        for one, found in [place for place in places if place[1]][:1]:
            yield Failure(f"no {quoted(text)}", f"{one.words} contains {quoted(found)}", one.step, turn.number)


def _place(seen: Visible) -> str:
    if not seen.place:
        return f"the {seen.kind}"
    return f"the {seen.kind} at {shortened(seen.place, _NAME)}"


def _json(expect: OutputExpectations, turn: TurnView) -> Iterator[Failure]:
    concluded = turn.progress.concluded
    for name, matcher in expect.json_fields.items():
        if concluded is None or concluded.output is None:
            happened = f"the answer has no fields; {answer_in_words(turn)}"
            yield Failure(f"the field {name} in the answer", happened, turn.last_step)
        elif problem := mismatch(matcher, field_at(concluded.output, name), name):
            yield Failure(f"the field {name} like {written_value(matcher)}", problem, turn.last_step)
