"""What does a model call cost? From `prices.json`, which is data: edit it when a provider changes its list."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from gofer.messages import Usage

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    cached_input: float
    output: float


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model name."""

    models: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> float | None:
        """USD of one call, or None when the model has no known price. `-2026-03-17` style suffixes are ignored."""
        price = self._price(model)
        if price is None:
            return None
        fresh = usage.input_tokens - usage.cached_tokens
        spent = fresh * price.input + usage.cached_tokens * price.cached_input + usage.output_tokens * price.output
        return spent / 1_000_000

    def known(self, model: str) -> bool:
        """Whether the cost of a model's calls can be told."""
        return self._price(model) is not None

    def _price(self, model: str) -> Price | None:
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


def load_prices() -> Prices:
    """The table that ships with Gofer."""
    table = json.loads(files("gofer.models").joinpath("prices.json").read_text())
    return Prices({name: Price(**price) for name, price in table["models"].items()})
