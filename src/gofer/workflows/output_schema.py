"""The flaws of a JSON Schema that is the `output` of a workflow, part by part.

The schema is an author's and the value a model's, so that no value may cost more than it is long: patterns are matched
by an engine without backtracking (that of pydantic), a schema refers to nothing outside and never to itself, and sizes
are limited.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Protocol, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import (
    ValidationError,
    best_match,  # pyright: ignore[reportUnknownVariableType]
)
from pydantic import StringConstraints, TypeAdapter
from pydantic_core import SchemaError as BadPattern

from gofer.values.canonical_json import MAX_DEPTH, as_list, as_object, deeper_than, encode_text

SCHEMA_LIMIT = 20_000
"""Characters of a schema; a model is shown all of it with every call."""
NODES_LIMIT = 2_000
"""Parts of a schema, counted as often as they are referred to."""
LEVELS_LIMIT = 40
"""Parts of a schema within one another, with those it refers to; each takes a few frames of Python's stack."""
QUOTED = 200
"""Characters of what is quoted."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
LOOK_UP = "Write a JSON Schema; docs/workflow-file.md says which."

_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")
"""Keywords with a value that gives schemas by names of the author's."""
_DATA = ("enum", "const", "default", "examples", "required", "dependentRequired")
"""Keywords that hold values and no schemas."""
_REFUSED = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "patternProperties")
_TYPES = "Write `string`, `number`, `integer`, `boolean`, `object`, `array`, `null`, or a list of them."
_DEEP = f"more than {LEVELS_LIMIT} parts stand within one another, with those it refers to"

Schema = Mapping[str, object]
Way = tuple[int | str, ...]
"""The way to a part: keys and positions from the top of the schema."""


class Checks(Protocol):
    """A validator of one schema."""

    def iter_errors(self, instance: object) -> Iterator[ValidationError]:
        """Yield each mistake of a value."""
        ...


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a schema cannot be used."""

    way: Way
    why: str
    """What is wrong: the end of a sentence, without its full stop."""
    instead: str = LOOK_UP
    """What to write: one sentence."""


def flaws(schema: object) -> list[Flaw]:
    """Return everything that is wrong with a schema, at most once for each part; none when it may be an output."""
    known = as_object(schema)
    if "type" not in known:
        if isinstance(schema, dict):
            why = "it has no `type: object`"
        else:
            why = "it is no mapping of keywords"
        return [Flaw((), why, "Write a JSON Schema with `type: object`, or the name of a .json file that holds one.")]
    if known["type"] != "object":
        return [Flaw(("type",), "an answer is one object", "Write `object`.")]
    if too_large := _too_large(known):
        return [too_large]
    if known.get("$schema", DIALECT) != DIALECT:
        return [Flaw(("$schema",), "this names another dialect", f"Leave it out, or write {DIALECT}.")]
    found = _Census(known).flaws()
    if any(not flaw.way for flaw in found):
        # What is too large for us may be too much for the meta-schema's recursion, too.
        return found
    found += _no_schema(encode_text(schema))
    return sorted({flaw.way: flaw for flaw in found}.values(), key=lambda flaw: [str(part) for part in flaw.way])


@lru_cache(maxsize=64)
def _no_schema(written: str) -> tuple[Flaw, ...]:
    """Return what keeps JSON from being a schema at all. The meta-schema is slow, and files are read repeatedly."""
    return tuple(_flaw(_best([error])) for error in _META.iter_errors(json.loads(written)))


def _flaw(error: ValidationError) -> Flaw:
    way = tuple(error.absolute_path)
    if way[-1:] == ("type",) and isinstance(error.instance, str):
        return Flaw(way, f"{_cut(error.instance)!r} is no type", _TYPES)
    return Flaw(way, _cut(error.message))


def _too_large(schema: Schema) -> Flaw | None:
    if deeper_than(schema, MAX_DEPTH):
        return Flaw((), f"the schema is nested deeper than {MAX_DEPTH} levels", "Write it flat.")
    try:
        size = len(encode_text(schema))
    except (TypeError, ValueError) as error:
        return Flaw((), f"the schema is not JSON: {_cut(str(error))}", "Write numbers, text, lists and mappings only.")
    if size > SCHEMA_LIMIT:
        return Flaw((), f"the schema is longer than {SCHEMA_LIMIT} characters", "Ask for less.")
    return None


@dataclass(frozen=True, slots=True)
class _Size:
    parts: int = 1
    levels: int = 1


class _TooMuch(Exception):
    """Some size is over its limit; nothing more is counted."""


class _Census:
    """Counts the parts of a schema, and looks at each."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._sizes: dict[str, _Size | None] = {}
        """Of the definitions, by how they are referred to; None while they are counted."""
        self._found: list[Flaw] = []

    def flaws(self) -> list[Flaw]:
        """Return what is wrong; a flaw without a way is one of the whole."""
        try:
            self._count(self._root, (), 1)
        except _TooMuch as error:
            return [Flaw((), str(error), "Ask for less.")]
        return self._found

    def _count(self, schema: object, way: Way, level: int) -> _Size:
        if level > LEVELS_LIMIT:
            raise _TooMuch(_DEEP)
        parts = [self._part(key, value, (*way, key), level) for key, value in as_object(schema).items()]
        size = _Size(1 + sum(part.parts for part in parts), 1 + max((part.levels for part in parts), default=0))
        if size.parts > NODES_LIMIT:
            raise _TooMuch(f"the schema has more than {NODES_LIMIT} parts, with those it refers to")
        if size.levels > LEVELS_LIMIT:
            # Not seen on the way down where it leads through a definition that was counted before.
            raise _TooMuch(_DEEP)
        return size

    def _part(self, keyword: str, value: object, way: Way, level: int) -> _Size:
        if keyword in _REFUSED or (keyword == "$schema" and len(way) > 1):
            # A part with a dialect of its own would be validated by that, with patterns that backtrack.
            instead = "Name the properties, and parts of it under `$defs`."
            self._found.append(Flaw(way, "Gofer does not take this keyword here", instead))
            return _Size(0, 0)
        if keyword == "pattern":
            self._look_at_pattern(value, way)
        if keyword == "$ref":
            return self._referred(str(value), way, level)
        if keyword in _DATA:
            return _Size(0, 0)
        if keyword in _NAMED:
            inner = as_object(value).items()
        else:
            inner = enumerate(as_list(value))
        sizes = [self._count(part, (*way, name), level + 1) for name, part in inner]
        if keyword not in _NAMED:
            sizes.append(self._count(value, way, level + 1))
        return _Size(sum(size.parts for size in sizes), max((size.levels for size in sizes), default=0))

    def _look_at_pattern(self, value: object, way: Way) -> None:
        try:
            matcher(str(value))
        except ValueError as error:
            self._found.append(Flaw(way, str(error), "Write one without look-around and back-references."))

    def _referred(self, ref: str, way: Way, level: int) -> _Size:
        start, _, name = ref.rpartition("/")
        where = start.removeprefix("#/")
        definitions = as_object(self._root.get(where))
        if start not in ("#/$defs", "#/definitions") or name not in definitions:
            instead = "Refer to `#/$defs/…`, and define it there."
            self._found.append(Flaw(way, f"`$ref: {_cut(ref)}` leads nowhere in this schema", instead))
            return _Size()
        if ref not in self._sizes:
            self._sizes[ref] = None
            self._sizes[ref] = self._count(definitions[name], (where, name), level + 1)
        size = self._sizes[ref]
        if size is None:
            why = f"`$ref: {_cut(ref)}` leads round in a circle"
            self._found.append(Flaw(way, why, "Write as many levels as are wanted."))
        return size or _Size()


@cache
def matcher(pattern: str) -> TypeAdapter[str]:
    """Match anywhere in a text, in time that grows with its length only. Raises ValueError."""
    try:
        return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    except BadPattern as error:
        why = " ".join(str(error).rpartition("error: ")[2].split())
        raise ValueError(f"{pattern[:80]!r} is no pattern: {_cut(why)}") from error


def _cut(text: str) -> str:
    if len(text) <= QUOTED:
        return text
    return f"{text[: QUOTED - 1]}…"


_best = cast(Callable[[Iterable[ValidationError]], ValidationError], best_match)
"""Of alternatives that all fail, the mistake in the one that was meant says more than that none is right."""
_META = cast(Checks, Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=FormatChecker(formats=())))
