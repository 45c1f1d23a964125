"""The comparison of a played run with a recorded one, turn by turn.

Code decides where it can. The judge decides about free text only: the wording of answers and of arguments.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gofer.evals.eval_file import Criterion, Tolerance
from gofer.evals.judging.judge import Judge, Opinion
from gofer.evals.judging.material import TooLong, fitting, turns_json
from gofer.evals.judging.question import question_of
from gofer.evals.judging.same_calls import Match, Placed, matched
from gofer.evals.judging.tolerances import same_text
from gofer.evals.judging.turn_facts import CallFacts, TurnFacts
from gofer.evals.judging.verdict import Decision
from gofer.values.canonical_json import encode_text

SAME_TURN = Criterion(
    id="trajectory", ask="Does `played` do and say the same as `recorded`, apart from the tolerated differences?"
)
"""The criterion for comparisons that name none."""
MOST_CALLS = 500
"""The most calls of a run that are compared."""
LINE = 300
"""The most characters of one line for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTurn:
    """The verdict about one recorded turn."""

    number: int
    """The number of the recorded turn, from 1."""
    verdict: Decision | None
    """None if the judge was needed and gave no verdict."""
    decided_by: Literal["code", "judge"]
    reason: str = ""
    recorded: str = ""
    """The first difference as it was recorded, in one line."""
    played: str = ""
    step: str = ""
    """The id of the played call that differs; empty for an answer or a missing call."""
    missing: Literal["", "no_evidence", "infrastructure"] = ""
    """Why there is no verdict, as in `results.Grade`."""


@dataclass(slots=True)
class _Turn:
    """What is known about one recorded turn during the comparison."""

    number: int
    faults: list[ComparedTurn] = field(default_factory=list[ComparedTurn])
    open: list[tuple[TurnFacts, TurnFacts]] = field(default_factory=list[tuple[TurnFacts, TurnFacts]])
    """The parts that code cannot decide, recorded and played."""


async def compared(
    recorded: Sequence[TurnFacts], played: Sequence[TurnFacts], criterion: Criterion, judge: Judge | None
) -> Sequence[ComparedTurn]:
    """Return a verdict for each recorded turn. A run with more calls than the limit is INCORRECT at once.

    Without a judge, turns that code cannot decide have no verdict.
    """
    for turns in (recorded, played):
        if sum(len(turn.calls) for turn in turns) > MOST_CALLS:
            return [_fault(1, f"The run has more than {MOST_CALLS} calls.")]
    return [await _decided(turn, criterion, judge) for turn in _by_code(recorded, played, criterion.tolerance)]


def _by_code(recorded: Sequence[TurnFacts], played: Sequence[TurnFacts], tolerance: Tolerance) -> Sequence[_Turn]:
    turns = [_Turn(number) for number in range(1, max(1, len(recorded)) + 1)]
    last = turns[-1].number
    pairs = itertools.zip_longest(_stretches(recorded, tolerance), _stretches(played, tolerance), fillvalue=_Stretch())
    for wanted, given in pairs:
        begin = min(wanted.first or last, last)
        for match in matched(wanted.calls, given.calls, tolerance):
            _note_match(turns, match, begin)
        _note_words(turns[(wanted.words_turn or last) - 1], wanted, given, tolerance)
    return turns


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The calls before an answer, and the answer."""

    calls: Sequence[Placed] = ()
    words: str = ""
    words_turn: int = 0
    """The number of the turn with the answer; 0 without an answer."""

    @property
    def first(self) -> int:
        """The number of the first turn; 0 for an empty stretch."""
        if self.calls:
            return self.calls[0].turn
        return self.words_turn


def _stretches(turns: Sequence[TurnFacts], tolerance: Tolerance) -> Sequence[_Stretch]:
    """Return the turns in stretches that end with an answer; each turn alone if turns must not be split or joined."""
    stretches: list[_Stretch] = []
    calls: list[Placed] = []
    for number, turn in enumerate(turns, start=1):
        calls += [Placed(number, call) for call in turn.calls]
        if not turn.calls:
            stretches.append(_Stretch(calls, turn.text, number))
            calls = []
        elif tolerance.tool_only_turns == "exact":
            stretches.append(_Stretch(calls))
            calls = []
    if calls:
        stretches.append(_Stretch(calls))
    return stretches


def _note_match(turns: Sequence[_Turn], match: Match, begin: int) -> None:
    number = begin
    if match.recorded is not None:
        number = match.recorded.turn
    turn = turns[number - 1]
    if match.sameness == "different":
        fault = _fault(number, match.reason, recorded=_call_line(match.recorded), played=_call_line(match.played))
        if match.played is not None:
            fault = replace(fault, step=match.played.call.id)
        turn.faults.append(fault)
    elif match.sameness == "unclear" and match.recorded is not None and match.played is not None:
        turn.open.append((_asked(match.recorded.call), _asked(match.played.call)))


def _note_words(turn: _Turn, wanted: _Stretch, given: _Stretch, tolerance: Tolerance) -> None:
    if not wanted.words_turn and not given.words_turn:
        return
    sameness = same_text(wanted.words, given.words, tolerance)
    reason = "The answers differ in a number or in words that must be equal."
    if wanted.words_turn == 0:
        sameness = "different"
        reason = "The answer was not recorded."
    elif given.words_turn == 0:
        sameness = "different"
        reason = "The answer is missing."
    if sameness == "different":
        turn.faults.append(_fault(turn.number, reason, recorded=_line(wanted.words), played=_line(given.words)))
    elif sameness == "unclear":
        turn.open.append((TurnFacts(wanted.words), TurnFacts(given.words)))


def _fault(number: int, reason: str, *, recorded: str = "", played: str = "") -> ComparedTurn:
    return ComparedTurn(
        number=number, verdict="INCORRECT", decided_by="code", reason=reason, recorded=recorded, played=played
    )


async def _decided(turn: _Turn, criterion: Criterion, judge: Judge | None) -> ComparedTurn:
    if turn.faults:
        return turn.faults[0]
    if not turn.open:
        return ComparedTurn(number=turn.number, verdict="CORRECT", decided_by="code")
    recorded = [pair[0] for pair in turn.open]
    played = [pair[1] for pair in turn.open]
    undecided = ComparedTurn(
        number=turn.number,
        verdict=None,
        decided_by="judge",
        reason="No model judges.",
        recorded=_text(recorded),
        played=_text(played),
    )
    if judge is None:
        return replace(undecided, missing="no_evidence")
    try:
        material = fitting({"recorded": turns_json(recorded), "played": turns_json(played)})
    except TooLong as error:
        return replace(undecided, reason=str(error), missing="no_evidence")
    votes = await judge.votes(question_of(criterion, material), criterion.votes)
    return _voted(undecided, Opinion(votes, criterion.least_score))


def _voted(undecided: ComparedTurn, opinion: Opinion) -> ComparedTurn:
    if opinion.passed is None:
        return replace(undecided, reason=opinion.missing[0].problem, missing=opinion.why_missing)
    reason = "The votes disagree."
    if opinion.deciding is not None:
        reason = f"{opinion.deciding.reason} Quote: “{opinion.deciding.quote}”"
    if opinion.passed:
        return replace(undecided, verdict="CORRECT", reason=_line(reason))
    return replace(undecided, verdict="INCORRECT", reason=_line(reason))


def _asked(call: CallFacts) -> TurnFacts:
    """Return a turn with the call without its result, which the world decides and not the model."""
    return TurnFacts(calls=[replace(call, result="")])


def _call_line(placed: Placed | None) -> str:
    if placed is None:
        return "no call"
    return _line(f"{placed.call.tool} {encode_text(placed.call.arguments)}")


def _text(turns: Sequence[TurnFacts]) -> str:
    first = turns[0]
    if first.calls:
        return _call_line(Placed(0, first.calls[0]))
    return _line(first.text)


def _line(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > LINE:
        return f"{line[: LINE - 1]}…"
    return line
