"""The tokens of the next request: the provider's count of the last one, and an estimate of what came since.

Estimates are wrong by a constant for each model and kind of content. What a provider counted of a request whose
estimate is known says by how much, so the factors are learned from the run itself; nothing is downloaded for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gofer.journal.entries import LlmRequest, LlmResponse, Recorded
from gofer.journal.workspace_entries import Weights

LEAST = 50
"""Estimated tokens that have to be new in a request before it teaches anything."""
_FACTORS = (0.4, 2.5)
"""No vocabulary is further off than this; a count that says so is not about this request."""


@dataclass(slots=True)
class Ledger:
    """What one model's provider has counted so far."""

    measured: int = 0
    """Tokens of the last request, as counted; 0 before the first."""
    counted: Mapping[str, int] = field(default_factory=dict[str, int])
    """Estimates of that request, by kind of content."""
    factors: dict[str, float] = field(default_factory=dict[str, float])
    """Counted tokens for each estimated one, by kind of content."""
    overall: float = 1.0
    """The same for kinds that have not been seen."""

    def predict(self, kinds: Mapping[str, int]) -> int:
        """Tokens of a request of which these are the estimates."""
        grown = self._grown(kinds)
        return max(0, self.measured + round(sum(self._factor(kind) * tokens for kind, tokens in grown.items())))

    def learn(self, kinds: Mapping[str, int], measured: int) -> None:
        """Takes a count of a request of which these were the estimates."""
        grown = self._grown(kinds)
        new = {kind: self._factor(kind) * tokens for kind, tokens in grown.items() if tokens > 0}
        shrunk = sum(self._factor(kind) * tokens for kind, tokens in grown.items() if tokens < 0)
        expected = sum(new.values())
        actual = measured - self.measured - shrunk
        if expected >= LEAST and actual > 0:
            for kind, share in new.items():
                # Each kind answers for its share of what was wrong.
                self.factors[kind] = _bounded(self._factor(kind) * (actual / expected) ** (share / expected))
            if not self.measured:
                self.overall = _bounded(actual / expected)
        self.measured = measured
        self.counted = kinds

    def _grown(self, kinds: Mapping[str, int]) -> Mapping[str, int]:
        # In one order in every process: sums of floats depend on it, and a model is told what comes out.
        known = sorted(kinds.keys() | self.counted.keys())
        return {kind: kinds.get(kind, 0) - self.counted.get(kind, 0) for kind in known}

    def _factor(self, kind: str) -> float:
        return self.factors.get(kind, self.overall)


@dataclass(slots=True)
class Account:
    """What a run knows of the size of its requests."""

    ledgers: dict[str, Ledger] = field(default_factory=dict[str, Ledger])
    """By model."""
    asked: tuple[str, Weights] | None = None
    """The model that is being asked, and the estimates of its request."""
    peak: int = 0
    """Tokens of the largest request so far, as counted."""

    def predict(self, model: str, kinds: Mapping[str, int]) -> int:
        """Tokens of a request to a model, of which these are the estimates by kind of content."""
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
