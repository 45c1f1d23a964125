"""What can a model take beside text, and how much? From `abilities.json`, which is data: edit it for a new model."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Ability:
    """What one model takes."""

    window: int
    """Tokens of a request and its answer together at most; 0 is not known."""
    vision: bool = False
    """Whether it looks at images."""
    pdf: bool = False
    """Whether it reads PDFs by itself."""


TEXT_ONLY = Ability(0)
"""What is known of a model that nobody wrote down: nothing is refused that any model takes."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities by model name."""

    models: Mapping[str, Ability]

    def of(self, model: str) -> Ability:
        """What a model takes. `-2026-03-17` style suffixes are ignored."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model)) or TEXT_ONLY

    def common(self, models: Iterable[str]) -> Ability:
        """What every one of some models takes, so that whichever answers can read what was said to another."""
        each = [self.of(model) for model in models] or [TEXT_ONLY]
        window = min((one.window for one in each if one.window), default=0)
        return Ability(window, all(one.vision for one in each), all(one.pdf for one in each))


def load_abilities() -> Abilities:
    """The table that ships with Gofer."""
    table = json.loads(files("gofer.models").joinpath("abilities.json").read_text())
    return Abilities({name: Ability(**ability) for name, ability in table["models"].items()})
