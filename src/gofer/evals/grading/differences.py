"""The difference of two plays of one case, for tables that compare a case with its baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gofer.evals.grading.call_words import tool_name
from gofer.evals.grading.folded_text import folded
from gofer.evals.grading.turn_view import PlayedCall, TurnView, turn_view
from gofer.evals.plays import Play
from gofer.projections.checks.check_settings import shortened
from gofer.values.canonical_json import encode_text

_ANSWER = 120
"""The most characters of an answer in a difference."""


@dataclass(frozen=True, slots=True)
class TurnDifference:
    """How one turn differs between two plays. Each pair is empty if both are alike."""

    turn: int
    """Counted from 1."""
    calls: tuple[str, str] = ("", "")
    """The first calls that differ; `no further call` for a play that made none."""
    step: str = ""
    """The id of that call in the second play; empty if it made none."""
    statuses: tuple[str, str] = ("", "")
    answers: tuple[str, str] = ("", "")
    """The beginnings of the answers, if they differ in more than white space and typographic signs."""

    @property
    def is_empty(self) -> bool:
        """Whether both plays did the same in this turn."""
        return not any((*self.calls, *self.statuses, *self.answers))


def play_differences(before: Play, after: Play) -> Sequence[TurnDifference]:
    """Return the turns in which two plays differ, in order. A turn of one play alone differs in its status."""
    found: list[TurnDifference] = []
    for number in range(1, max(len(before.turns), len(after.turns)) + 1):
        difference = _difference(number, _view(before, number), _view(after, number))
        if not difference.is_empty:
            found.append(difference)
    return found


def _view(play: Play, number: int) -> TurnView | None:
    if number > len(play.turns):
        return None
    return turn_view(play, number)


def _difference(number: int, before: TurnView | None, after: TurnView | None) -> TurnDifference:
    if before is None or after is None:
        return TurnDifference(number, statuses=(_status(before), _status(after)))
    calls, step = _first_calls(before.calls, after.calls)
    return TurnDifference(
        number,
        calls=calls,
        step=step,
        statuses=_pair(before.status, after.status),
        answers=_answers(before.answer, after.answer),
    )


def _status(turn: TurnView | None) -> str:
    if turn is None:
        return "not played"
    return turn.status


def _first_calls(before: Sequence[PlayedCall], after: Sequence[PlayedCall]) -> tuple[tuple[str, str], str]:
    for one, other in zip_longest(before, after):
        if one is None or other is None or _meaning(one) != _meaning(other):
            step = ""
            if other is not None:
                step = other.step
            return (_words(one), _words(other)), step
    return ("", ""), ""


def _meaning(made: PlayedCall) -> tuple[str, str, str]:
    return made.call.tool, _arguments(made), made.call.status


def _arguments(made: PlayedCall) -> str:
    if made.call.arguments is None:
        return made.call.asked_for
    return encode_text(made.call.arguments)


def _words(made: PlayedCall | None) -> str:
    if made is None:
        return "no further call"
    return f"{made.name}: {tool_name(made)} {shortened(_arguments(made), _ANSWER)} ({made.call.status})"


def _answers(before: str, after: str) -> tuple[str, str]:
    if folded(before) == folded(after):
        return "", ""
    return shortened(before, _ANSWER), shortened(after, _ANSWER)


def _pair(before: str, after: str) -> tuple[str, str]:
    if before == after:
        return "", ""
    return before, after
