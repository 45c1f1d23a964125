"""The recorded answers of a golden, for its play in another world.

The requests differ from the recorded ones in their ids, so no hash finds an answer. The answers are given in their
recorded order, with the ids of the world. They test Gofer, tools and expectations, and say nothing about a prompt.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from gofer.app.evals.answering import Asked
from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.goldens.world_ids import WorldIds
from gofer.journal.entries import LlmResponse
from gofer.models.language_model import Answer, Model, Refused
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.messages import ProviderError

_NONE_LEFT = "The golden has no further answer for it; play the case with --live, or record answers for it."


Answers = Mapping[str, deque[LlmResponse]]
"""The answers that are left, by the system prompt of the run that they answered."""


@dataclass(slots=True)
class GoldenAnswers(Model):
    """A model that answers as the recorded runs of a golden were answered."""

    turns: Sequence[GoldenRun]
    ids: WorldIds
    asked: Asked
    _left: dict[int, Answers] = field(default_factory=dict[int, Answers])
    """The answers that are left, by turn and by the system prompt of the run that they answered."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.number += 1
        self.asked.sources.add("scripted")
        answers = self._answers(body)
        if not answers:
            self.asked.note_missing(_NONE_LEFT)
            raise Refused("This request has no recorded answer.", ProviderError("refused"), final=True)
        return self._in_world(answers.popleft())

    def _answers(self, body: bytes) -> deque[LlmResponse]:
        turn = self.asked.turn
        if turn > len(self.turns):
            return deque()
        if turn not in self._left:
            self._left[turn] = answers_of(self.turns[turn - 1])
        left = self._left[turn]
        if len(left) == 1:
            # The prompt may have changed since, or a redacted word in it.
            return next(iter(left.values()))
        return left.get(_system_of(body), deque())

    def _in_world(self, response: LlmResponse) -> Answer:
        asks = tuple(
            replace(ask, arguments=_arguments_in_world(ask.arguments, self.ids)) for ask in response.tool_calls
        )
        text = as_text(self.ids.to_world(response.text))
        return Answer(
            text, asks, response.finish_reason, response.model, response.usage, response.extra, api=response.api
        )


def answers_of(turn: GoldenRun) -> Answers:
    """Return the answers of a run and of its subagent runs, by the system prompt of each run; none of scripts."""
    found: dict[str, deque[LlmResponse]] = {}
    for run in turn.journals:
        bundle = turn.bundle(run)
        given = [one.entry for one in turn.entries(run) if isinstance(one.entry, LlmResponse)]
        if bundle is not None and given:
            found.setdefault(bundle.loaded.system, deque()).extend(given)
    return found


def _arguments_in_world(arguments: str, ids: WorldIds) -> str:
    try:
        value: object = json.loads(arguments)
    except ValueError:
        # A model may write no JSON; its text is given as it was.
        return arguments
    return json.dumps(ids.to_world(value), ensure_ascii=False)


def _system_of(body: bytes) -> str:
    messages = as_list(as_object(json.loads(body)).get("messages"))
    if not messages:
        return ""
    return as_text(as_object(messages[0]).get("content"))
