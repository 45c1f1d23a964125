"""How full was a model's context window? From `windows.json`, which is data as the prices are."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Windows:
    """Tokens that the context window of each model holds."""

    models: Mapping[str, int]

    def utilisation(self, largest: Mapping[str, int]) -> float | None:
        """The share of its window that an exchange filled at most, by the largest one with each model.

        1 is all of it; None when no model's window is known. `-2026-03-17` style suffixes are ignored.
        """
        sizes = {model: self.models.get(model) or self.models.get(_DATED.sub("", model)) for model in largest}
        return max((tokens / size for model, tokens in largest.items() if (size := sizes[model])), default=None)


def load_windows() -> Windows:
    """The table that ships with Gofer."""
    return Windows(json.loads(files("gofer.models").joinpath("windows.json").read_text())["models"])
