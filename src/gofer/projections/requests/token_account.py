"""The expected tokens of the next request: the provider's count of the last one, and an estimate of the changes.

An estimate is wrong by a constant factor for each model and kind of content. The provider's count of an estimated
request reveals the factor, so factors are learned from the run itself and nothing is downloaded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gofer.journal.entries import LlmRequest, LlmResponse, Recorded
from gofer.journal.workspace_entries import Weights

LEAST = 50
"""The least estimated new tokens in a request from which factors are learned."""
_FACTORS = (0.4, 2.5)
"""The least and the largest factor. No tokenizer is further off, so a larger deviation has another cause."""


@dataclass(slots=True)
class Ledger:
    """The token counts of one model's provider so far."""

    measured: int = 0
    """The counted tokens of the last request; 0 before the first."""
    counted: Mapping[str, int] = field(default_factory=dict[str, int])
    """The estimates of that request, by kind of content."""
    factors: dict[str, float] = field(default_factory=dict[str, float])
    """Counted tokens per estimated token, by kind of content."""
    overall: float = 1.0
    """The factor for kinds of content without a count."""

    def predict(self, kinds: Mapping[str, int]) -> int:
        """Return the expected tokens of a request from its estimates by kind of content."""
        changes = self._changes(kinds)
        return max(0, self.measured + round(sum(self._factor(kind) * tokens for kind, tokens in changes.items())))

    def learn(self, kinds: Mapping[str, int], measured: int) -> None:
        """Update the factors with the counted tokens of a request and its estimates by kind of content."""
        changes = self._changes(kinds)
        new = {kind: self._factor(kind) * tokens for kind, tokens in changes.items() if tokens > 0}
        shrunk = sum(self._factor(kind) * tokens for kind, tokens in changes.items() if tokens < 0)
        expected = sum(new.values())
        actual = measured - self.measured - shrunk
        if expected >= LEAST and actual > 0:
            for kind, share in new.items():
                # Each kind of content is corrected by its share of the deviation.
                self.factors[kind] = _bounded(self._factor(kind) * (actual / expected) ** (share / expected))
            if not self.measured:
                self.overall = _bounded(actual / expected)
        self.measured = measured
        self.counted = kinds

    def _changes(self, kinds: Mapping[str, int]) -> Mapping[str, int]:
        # Sorted, because sums of floats depend on their order, and the model is shown the result.
        known = sorted(kinds.keys() | self.counted.keys())
        return {kind: kinds.get(kind, 0) - self.counted.get(kind, 0) for kind in known}

    def _factor(self, kind: str) -> float:
        return self.factors.get(kind, self.overall)


@dataclass(slots=True)
class Account:
    """The token counts of a run, by model."""

    ledgers: dict[str, Ledger] = field(default_factory=dict[str, Ledger])
    """The ledgers by model."""
    asked: tuple[str, Weights] | None = None
    """The model of the running request, and the estimates of that request."""
    peak: int = 0
    """The counted tokens of the largest request so far."""

    def predict(self, model: str, kinds: Mapping[str, int]) -> int:
        """Return the expected tokens of a request to a model from its estimates by kind of content."""
        return self.ledgers.get(model, Ledger()).predict(kinds)


def project(entries: Iterable[Recorded]) -> Account:
    """Return the account of a whole journal."""
    state = Account()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Account, recorded: Recorded) -> None:
    """Add one more entry to the account, in place."""
    match recorded.entry:
        case LlmRequest(params=params, weights=weights) if weights is not None:
            state.asked = str(params.get("model", "")), weights
        case LlmResponse(usage=usage) if state.asked is not None:
            model, weights = state.asked
            if usage.input_tokens > 0:
                state.ledgers.setdefault(model, Ledger()).learn(weights.kinds, usage.input_tokens)
                state.peak = max(state.peak, usage.input_tokens)
            state.asked = None
        case _:
            pass


def _bounded(factor: float) -> float:
    return min(max(factor, _FACTORS[0]), _FACTORS[1])
