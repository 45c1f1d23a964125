"""The answers of live models during one replay: how many came, their cost, and the requests that got none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gofer.engine.model_order import TimedAnswer
from gofer.models.language_model import Unusable

RequestPlace = tuple[str, str]
"""A run or subagent run, and its call that asks a model: `model` for the conversation of the run."""


@dataclass(slots=True)
class LiveAnswers:
    """The live answers of one replay so far."""

    count: int = 0
    cost_usd: float = 0.0
    """US dollars of the answers whose price is known."""
    unpriced: int = 0
    """The answers without a known price."""
    _failures: dict[RequestPlace, str] = field(default_factory=dict[RequestPlace, str])

    @property
    def failures(self) -> Mapping[RequestPlace, str]:
        """Why no model answered, by the place of each request without an answer."""
        return self._failures

    def answered(self, place: RequestPlace, answer: TimedAnswer) -> None:
        """Count an answer."""
        self._failures.pop(place, None)
        self.count += 1
        if answer.cost_usd is None:
            self.unpriced += 1
        else:
            self.cost_usd += answer.cost_usd

    def failed(self, place: RequestPlace, error: Exception) -> None:
        """Note that a model gave no answer. An unusable answer is an answer: it says something about the model."""
        if not isinstance(error, Unusable):
            self._failures[place] = str(error)
