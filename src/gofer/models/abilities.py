"""The abilities of models: the kinds of content that they take beside text, and the sizes of their windows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Literal, TypeAlias

Read: TypeAlias = Literal["image", "pdf"]
"""A kind of content beside text."""


@dataclass(frozen=True, slots=True)
class Ability:
    """The window of one model, and the kinds of content that it takes."""

    window: int
    """Greatest number of tokens of a request and its answer together; 0 means unknown."""
    vision: bool = False
    """Whether the model takes images."""
    pdf: bool = False
    """Whether the model takes PDFs."""

    @property
    def reads(self) -> Sequence[Read]:
        """The kinds of content that the model takes beside text."""
        kinds: Mapping[Read, bool] = {"image": self.vision, "pdf": self.pdf}
        return [kind for kind, taken in kinds.items() if taken]


LEAST_WINDOW = 8_192
"""Smallest window of a model, in tokens. Instructions and tools of a run take about 3,000, its first message up to a
quarter, and results and answers need the rest."""
UNKNOWN_WINDOW = 128_000
"""The assumed window, in tokens, when neither a file nor the price list names one."""
TEXT_ONLY = Ability(0)
"""The ability of a model that no table describes: text, and a window of unknown size."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities by patterns of model names; the first pattern that fits decides."""

    models: Mapping[str, Ability]

    def of(self, model: str) -> Ability:
        """Return the ability of a model; its name may have the prefix of a gateway, as in `anthropic/claude-…`."""
        own = model.lower().rpartition("/")[2]
        return next((ability for pattern, ability in self.models.items() if fnmatchcase(own, pattern)), TEXT_ONLY)


def common(abilities: Iterable[Ability]) -> Ability:
    """Return the ability that all of these models have, so that each can continue the conversation of another.

    If the window of only some of them is unknown, those count as UNKNOWN_WINDOW.
    """
    each = list(abilities) or [TEXT_ONLY]
    window = 0
    if any(one.window for one in each):
        window = min(one.window or UNKNOWN_WINDOW for one in each)
    return Ability(window, vision=all(one.vision for one in each), pdf=all(one.pdf for one in each))


def load_abilities() -> Abilities:
    """Return the table that ships with Gofer. It has no windows; those come from files and the price list."""
    table = json.loads(files("gofer.models").joinpath("abilities.json").read_text())
    return Abilities(
        {name: Ability(0, vision="image" in reads, pdf="pdf" in reads) for name, reads in table["models"].items()}
    )
