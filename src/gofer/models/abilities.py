"""What models take beside text, and how much of it at a time."""

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
    """Tokens of a request and its answer together at most; 0 is not known."""
    vision: bool = False
    """Whether it looks at images."""
    pdf: bool = False
    """Whether it reads PDFs by itself."""

    @property
    def reads(self) -> Sequence[Read]:
        """The kinds of content that it takes beside text."""
        kinds: Mapping[Read, bool] = {"image": self.vision, "pdf": self.pdf}
        return [kind for kind, taken in kinds.items() if taken]


UNKNOWN_WINDOW = 128_000
"""Tokens that a model is taken to have room for when no file and no price list says how many."""
TEXT_ONLY = Ability(0)
"""The ability of a model that no table describes: text, and a window of unknown size."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities by patterns of model names; the first that fits counts."""

    models: Mapping[str, Ability]

    def of(self, model: str) -> Ability:
        """Return the ability of a model; a gateway may name it with its vendor, as `anthropic/claude-…`."""
        own = model.lower().rpartition("/")[2]
        return next((ability for pattern, ability in self.models.items() if fnmatchcase(own, pattern)), TEXT_ONLY)


def common(abilities: Iterable[Ability]) -> Ability:
    """Return what every one of some models takes, so that each can read what was said to another.

    A model of unknown size beside one of a known size counts as UNKNOWN_WINDOW.
    """
    each = list(abilities) or [TEXT_ONLY]
    window = 0
    if any(one.window for one in each):
        window = min(one.window or UNKNOWN_WINDOW for one in each)
    return Ability(window, vision=all(one.vision for one in each), pdf=all(one.pdf for one in each))


def utilisation(largest: Mapping[str, int], windows: Mapping[str, int]) -> float | None:
    """Return the share of its window that an exchange filled at most, by the tokens of the largest one with each model.

    1 is all of it; None when no model's window is known. An answer may name its model more exactly than a request.
    """
    shares = [tokens / size for model, tokens in largest.items() if (size := _window(model, windows))]
    return max(shares, default=None)


def _window(model: str, windows: Mapping[str, int]) -> int:
    asked = [name for name in windows if model.startswith(name)]
    return windows.get(max(asked, key=len, default=""), 0)


def load_abilities() -> Abilities:
    """Return the table that ships with Gofer; windows come from elsewhere."""
    table = json.loads(files("gofer.models").joinpath("abilities.json").read_text())
    return Abilities(
        {name: Ability(0, vision="image" in reads, pdf="pdf" in reads) for name, reads in table["models"].items()}
    )
