"""The turns of a run as plain values: what the model said, and which calls it made with which outcomes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import Effect, LlmResponse, MessageReceived, Recorded, RunConcluded
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections import calls as calls_projection
from gofer.projections.calls import Call


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One tool call of a turn."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    status: str = "ok"
    """The outcome as in `projections.calls.CallStatus`."""
    result: str = ""
    """The outcome as the model reads it."""
    effect: Effect = "read"
    """The effect of the tool; an unknown one counts as `blind`."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """One answer of the model: its words and its calls. The calls of a script are one turn."""

    text: str = ""
    calls: Sequence[CallFacts] = ()


def turns_of(entries: Sequence[Recorded]) -> Sequence[TurnFacts]:
    """Return the turns of a journal. The last turn has the answer for people, if the run has one.

    Calls that only keep the plan or end the run are left out.
    """
    calls = [call for call in calls_projection.project(entries).calls.values() if _counts(call)]
    turns = [TurnFacts(calls=_facts(calls, 0))]
    answers = [one.entry for one in entries if isinstance(one.entry, LlmResponse)]
    turns += [_turn(answer, _facts(calls, turn)) for turn, answer in enumerate(answers, start=1)]
    conclusion = next((one.entry for one in entries if isinstance(one.entry, RunConcluded)), None)
    if conclusion is not None:
        if not turns[-1].calls:
            turns.pop()
        turns.append(TurnFacts(conclusion.text))
    return [turn for turn in turns if turn.text or turn.calls]


def first_message(entries: Iterable[Recorded]) -> str:
    """Return the text that the run began with, as its model read it; empty for a script."""
    return next((one.entry.text for one in entries if isinstance(one.entry, MessageReceived)), "")


def _turn(answer: LlmResponse, calls: Sequence[CallFacts]) -> TurnFacts:
    if answer.tool_calls and not calls:
        # Words beside a change of the plan are no answer to a person.
        return TurnFacts()
    return TurnFacts(answer.text, calls)


def _counts(call: Call) -> bool:
    return not call.is_own and call.tool not in BOOKKEEPING


def _facts(calls: Iterable[Call], turn: int) -> Sequence[CallFacts]:
    return [
        CallFacts(call.tool, call.arguments or {}, call.status, call.text, call.effect or "blind", call.id)
        for call in calls
        if call.turn == turn
    ]
