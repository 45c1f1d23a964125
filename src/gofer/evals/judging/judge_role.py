"""The role `judge`, and the rule that no model judges itself."""

from collections.abc import Iterator

from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmRequest, LlmResponse, SubagentFinished
from gofer.models.served_model import DEFAULT, STAND_INS, ServedModel
from gofer.values.messages import ENDPOINT
from gofer.workflows.model_roles import Roles

JUDGE_ROLE = "judge"
"""The role in `agents/defaults.yaml` whose first model judges."""

Name = tuple[str | None, str]
"""An endpoint and a model. The endpoint is None if the journal does not name it."""


def judge_of(roles: Roles) -> ServedModel | None:
    """Return the first model of the role `judge`, or None.

    No other model of the role is asked, because agreement is measured for one model.
    """
    return next(iter(roles.playing(JUDGE_ROLE)), None)


def refusal(judge: ServedModel, play: Play) -> str:
    """Return why the judge may not judge a play, in one sentence; empty if it may."""
    for endpoint, model in judged_models(play):
        if model == judge.name and endpoint in (None, judge.endpoint.name) and model not in STAND_INS:
            return (
                f"The judge `{judge.name}` also answered in this run, and no model judges itself. "
                f"Name another model in the role `{JUDGE_ROLE}` of agents/defaults.yaml."
            )
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
