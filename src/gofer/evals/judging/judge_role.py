"""The role `judge`, and the rule that no model judges itself."""

from collections.abc import Iterator

from gofer.evals.judging.judge import Judge
from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmRequest, LlmResponse, SubagentFinished
from gofer.models.served_model import DEFAULT, STAND_INS, ServedModel
from gofer.values.messages import ENDPOINT
from gofer.workflows.model_roles import Roles

JUDGE_ROLE = "judge"
"""The role in `agents/defaults.yaml`; its first model judges."""

Name = tuple[str | None, str]
"""An endpoint and a model. The endpoint is None if the journal does not name it."""


def judge_of(roles: Roles) -> ServedModel | None:
    """Return the first model of the role `judge`, or None.

    No other model of the role is asked, because agreement is measured for one model.
    """
    return next(iter(roles.playing(JUDGE_ROLE)), None)


def refusal(judge: ServedModel, play: Play) -> str:
    """Return why the judge may not be asked about a play, in one sentence; empty if it may."""
    if judge.name in _names_at(judge, play):
        return _sentence(judge.name)
    return ""


def refusal_by_answers(judge: Judge, play: Play) -> str:
    """Return why the answers of a judge about a play do not count, in one sentence; empty if they do.

    A provider may answer under another name than that of the request, such as one with a date.
    """
    same = _names_at(judge.served, play) & judge.answered_as
    if same:
        return _sentence(min(same))
    return ""


def judged_models(play: Play) -> set[Name]:
    """Return the models that a play asked, with those of its subagents, by the names of requests and of answers."""
    return {name for turn in play.turns for name in _models(turn)}


def _models(turn: PlayedTurn) -> Iterator[Name]:
    for journal in (turn.entries, *turn.subagents.values()):
        endpoint: str | None = None
        for recorded in journal:
            match recorded.entry:
                case LlmRequest(params=params):
                    endpoint = str(params.get(ENDPOINT) or DEFAULT)
                    yield endpoint, str(params.get("model", ""))
                case LlmResponse(model=model):
                    yield endpoint, model
                case SubagentFinished(run="", model=model):
                    yield None, model
                case _:
                    pass


def _names_at(judge: ServedModel, play: Play) -> set[str]:
    """Return the models that a play asked at the endpoint of the judge, or at an unknown one, without stand-ins."""
    names = {model for endpoint, model in judged_models(play) if endpoint in (None, judge.endpoint.name)}
    return names - {*STAND_INS}


def _sentence(model: str) -> str:
    return (
        f"The judge `{model}` also answered in this run, and no model judges itself. "
        f"Name another model in the role `{JUDGE_ROLE}` of agents/defaults.yaml."
    )
