"""World files: the descriptions of simulated vendors.

Each mistake in a world file raises a ConfigError that names its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gofer.values.errors import ConfigError
from gofer_simulators.json_values import is_array, is_object, texts


class Part(BaseModel):
    """A mapping of a world file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_P = TypeVar("_P", bound=Part)


def read_world(form: type[_P], vendor: str, world: Mapping[str, object]) -> _P:
    """Return the part of a world for one vendor, as an object of the type `form`. Raises ConfigError."""
    try:
        return form.model_validate(world)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([vendor, *map(str, first["loc"])])
        raise wrong(place, first["msg"]) from error


def wrong(place: str, problem: str) -> ConfigError:
    """Return the error for a mistake at a place of a world file."""
    return ConfigError(f"The world is wrong at {place}: {problem}.")


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a world file and its path."""

    path: str
    value: object

    def wrong(self, problem: str) -> ConfigError:
        """Return the error for this value; `problem` continues a sentence that begins with "it"."""
        return wrong(self.path, f"it {problem}")

    def mapping(self, known: frozenset[str] | set[str]) -> "Place":
        """Return this place. Raises ConfigError unless its value is a mapping with only known keys."""
        if not is_object(self.value):
            raise self.wrong(f"must be a mapping with {', '.join(sorted(known))}")
        if unknown := sorted(set(self.value) - known):
            raise self.wrong(f"has the unknown key {unknown[0]!r}; it may have {', '.join(sorted(known))}")
        return self

    def at(self, key: str) -> "Place":
        """Return the place of a key; its value is None if the key is missing."""
        return Place(f"{self.path}.{key}", self.value.get(key) if is_object(self.value) else None)

    def has(self, key: str) -> bool:
        """Return whether a key has a value other than None."""
        return self.at(key).value is not None

    def each(self) -> Sequence["Place"]:
        """Return the places of a list. Raises ConfigError for another value."""
        if not is_array(self.value):
            raise self.wrong("must be a list")
        return [Place(f"{self.path}[{index}]", item) for index, item in enumerate(self.value)]

    def items(self, key: str) -> Sequence["Place"]:
        """Return the places of the list under a key; none if the key is missing. Raises ConfigError."""
        if self.has(key):
            return self.at(key).each()
        return ()

    def fields(self, key: str) -> Sequence[tuple[str, "Place"]]:
        """Return names and places of the mapping under a key; none if the key is missing. Raises ConfigError."""
        place = self.at(key)
        if place.value is None:
            return ()
        if not is_object(place.value):
            raise place.wrong("must be a mapping")
        return [(name, Place(f"{place.path}.{name}", item)) for name, item in place.value.items()]

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text under a key, or the default if the key is missing. Raises ConfigError."""
        place = self.at(key)
        if place.value is None and default is not None:
            return default
        if not isinstance(place.value, str) or not place.value.strip():
            raise place.wrong("must be a text that is not empty")
        return place.value

    def number(self, key: str) -> float:
        """Return the number of minutes under a key, 0 or more. Raises ConfigError."""
        place = self.at(key)
        if isinstance(place.value, bool) or not isinstance(place.value, int | float) or place.value < 0:
            raise place.wrong("must be a number of minutes that is 0 or more")
        return float(place.value)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return the boolean under a key, or the default if the key is missing. Raises ConfigError."""
        place = self.at(key)
        if not isinstance(place.value, bool | None):
            raise place.wrong("must be true or false")
        if place.value is None:
            return default
        return place.value

    def strings(self) -> list[str]:
        """Return the texts of a list. Raises ConfigError."""
        if not is_array(self.value) or len(texts(self.value)) < len(self.value):
            raise self.wrong("must be a list of texts")
        return texts(self.value)
