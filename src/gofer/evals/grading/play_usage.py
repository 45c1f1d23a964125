"""The usage of all runs of a play together. The runs' own progress counts their subagents."""

from collections.abc import Sequence

from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmResponse
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections import calls


def cost_of_play(play: Play) -> float | None:
    """Return the US dollars of all runs; None if the price of a model is unknown."""
    total = 0.0
    for turn in play.turns:
        if turn.progress.cost_usd is None:
            return None
        total += turn.progress.cost_usd
    return total


def cost_with_person(play: Play) -> float | None:
    """Return the US dollars of all runs and of the model that played a person; None if a price is unknown."""
    cost = cost_of_play(play)
    if cost is None or play.person_usd is None:
        return None
    return cost + play.person_usd


def total_llm_calls(play: Play) -> int:
    """Return the answers of models, without those that the history of a decision point gave."""
    return sum(turn.progress.llm_calls - turn.given_answers for turn in play.turns)


def total_tool_calls(play: Play) -> int:
    """Return the permitted calls of the models and scripts, without those that the history of a decision point gave."""
    return sum(turn.progress.tool_calls - _given_calls(turn) for turn in play.turns)


def _given_calls(turn: PlayedTurn) -> int:
    if not turn.given_answers:
        return 0
    made = calls.project(turn.entries).calls.values()
    given = [call for call in made if 0 < call.turn <= turn.given_answers and call.attempts]
    return sum(call.tool not in BOOKKEEPING for call in given)


def models_of_play(play: Play) -> Sequence[str]:
    """Return the models that answered, in the order of their first answers."""
    return list(dict.fromkeys(model for turn in play.turns for model in _models(turn)))


def _models(turn: PlayedTurn) -> Sequence[str]:
    if not turn.given_answers:
        return turn.progress.models
    answers = [recorded.entry for recorded in turn.entries if isinstance(recorded.entry, LlmResponse)]
    return [answer.model for answer in answers[turn.given_answers :]]


def agent_version(play: Play) -> str:
    """Return the hash of the bundle of the last run that started; empty if none started."""
    for turn in reversed(play.turns):
        if turn.progress.started is not None:
            return turn.progress.started.bundle
    return ""
