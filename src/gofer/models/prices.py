"""Prices of models, and the cost of one call."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.values.canonical_json import as_list, as_object
from gofer.values.messages import Usage

STAND_INS = ("offline-model", "scripted")
"""What answers in place of a model, by the names that answers carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens of one model."""

    input: float
    cached_input: float
    output: float
    above: tuple[tuple[int, "Price"], ...] = ()
    """The price of every token of a request with more input tokens than a number, by ascending numbers."""

    def cost(self, usage: Usage) -> float:
        """Return the US dollars of one call."""
        reached = [self, *(price for tokens, price in self.above if usage.input_tokens > tokens)]
        price = reached[-1]
        fresh = usage.input_tokens - usage.cached_tokens
        spent = fresh * price.input + usage.cached_tokens * price.cached_input + usage.output_tokens * price.output
        return spent / 1_000_000

    def to_json(self) -> dict[str, object]:
        """Return the price as JSON keeps it."""
        return {
            "input": self.input,
            "cached_input": self.cached_input,
            "output": self.output,
            "above": [[tokens, price.to_json()] for tokens, price in self.above],
        }


def price_from_json(value: Mapping[str, object]) -> Price:
    """Return the price that `Price.to_json` wrote."""
    pairs = [as_list(pair) for pair in as_list(value.get("above"))]
    return Price(
        input=_number(value, "input"),
        cached_input=_number(value, "cached_input"),
        output=_number(value, "output"),
        above=tuple((int(str(tokens)), price_from_json(as_object(price))) for tokens, price in pairs),
    )


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the name of the model that answered, for models that no file describes."""

    models: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the US dollars of one call, or None when the model has no price here."""
        price = self.models.get(model)
        if price is None:
            return None
        return price.cost(usage)


def stand_in_prices() -> Prices:
    """Return the prices of what answers in place of a model: nothing."""
    free = Price(input=0.0, cached_input=0.0, output=0.0)
    return Prices(dict.fromkeys(STAND_INS, free))


def _number(value: Mapping[str, object], name: str) -> float:
    found = value.get(name)
    if not isinstance(found, int | float):
        return 0.0
    return float(found)
