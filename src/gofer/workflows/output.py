"""Has an answer the form that its workflow asks for? `output` is a JSON Schema (2020-12) with limits of our own.

The schema is an author's and the value a model's, so that no value may cost more than it is long: patterns are matched
by an engine without backtracking (that of pydantic), a schema refers to nothing outside and never to itself, and sizes
are limited.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Protocol, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import (
    SchemaError,
    ValidationError,
    best_match,  # pyright: ignore[reportUnknownVariableType]
)
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic import StringConstraints, TypeAdapter
from pydantic import ValidationError as Unmatched
from pydantic_core import SchemaError as BadPattern

from gofer.canonical import MAX_DEPTH, as_list, as_object, deeper_than, encode, encode_text
from gofer.messages import arguments

SCHEMA_LIMIT = 20_000
"""Characters of a schema; a model is shown all of it with every call."""
NODES_LIMIT = 2_000
"""Parts of a schema, counted as often as they are referred to."""
ANSWER_LIMIT = 40_000
"""Characters of an answer that is looked at."""
PROBLEMS = 10
"""How many of its mistakes a model is told at once."""
QUOTED = 300
"""Characters of what is said about one of them."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value gives schemas by names of the author's."""
_DATA = ("enum", "const", "default", "examples", "required", "dependentRequired")
"""Keywords that hold values and no schemas."""
_REFUSED = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "patternProperties")

Schema = Mapping[str, object]


class _Checks(Protocol):
    def iter_errors(self, instance: object) -> Iterator[ValidationError]: ...


def check_schema(schema: object) -> None:
    """Raises ValueError that says what is wrong with a schema, as the end of a sentence without its full stop."""
    if not isinstance(schema, dict) or as_object(schema).get("type") != "object":  # pyright: ignore[reportUnknownArgumentType]
        raise ValueError("an output is a JSON Schema with `type: object`, or the name of a .json file that holds one")
    if deeper_than(cast(object, schema), MAX_DEPTH) or len(_json(cast(object, schema))) > SCHEMA_LIMIT:
        raise ValueError(f"the schema is deeper than {MAX_DEPTH} levels or longer than {SCHEMA_LIMIT} characters")
    known = as_object(cast(object, schema))
    if known.get("$schema", DIALECT) != DIALECT:
        raise ValueError(f"`$schema` names another dialect; leave it out, or write {DIALECT}")
    try:
        Draft202012Validator.check_schema(known, format_checker=FormatChecker(formats=()))
    except SchemaError as error:
        raise ValueError(f"{_place(error)}: {error.message[:QUOTED]}") from error
    if _Census(known).count(known) > NODES_LIMIT:
        raise ValueError(f"the schema has more than {NODES_LIMIT} parts, with those it refers to")


def instructions(schema: Schema) -> str:
    """What the system prompt says of it."""
    return (
        "# Output\n\nYour answer is read by a program: one JSON object that is valid under this JSON Schema, and "
        f"nothing else.\n\n```json\n{encode_text(schema)}\n```"
    )


def read_answer(text: str) -> Mapping[str, object]:
    """The object that an answer is, with or without a fence around it. Raises ValueError that says what it is."""
    if len(text) > ANSWER_LIMIT:
        raise ValueError(f"longer than {ANSWER_LIMIT} characters")
    return arguments(_unfenced(text.strip()))


def problems(schema: Schema, value: Mapping[str, object]) -> list[str]:
    """What is wrong with a value, one sentence each with its place; none when it is valid. Some, if there are many."""
    try:
        found = [_best([error]) for error in islice(_validator(schema).iter_errors(value), PROBLEMS)]
    except OverflowError:
        # `multipleOf` divides, and JSON has integers that no float holds.
        return ["the whole: a number is too large"]
    return [f"{_place(error)}: {error.message[:QUOTED]}" for error in found]


def _unfenced(text: str) -> str:
    begin, end = text.find("```"), text.rfind("```")
    if text.startswith("{") or begin == end:
        return text
    # The first line of a fence may name the language.
    return text[begin + 3 : end].partition("\n")[2].strip()


def _place(error: ValidationError | SchemaError) -> str:
    return error.json_path.removeprefix("$").removeprefix(".") or "the whole"


def _json(schema: object) -> str:
    try:
        return encode_text(schema)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the schema is not JSON: {error}") from error


class _Census:
    """Counts the parts of a schema, and looks at each. Raises ValueError for one that is not allowed."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._counts: dict[str, int] = {}
        """Of the definitions, by their names; 0 while they are counted."""

    def count(self, schema: object) -> int:
        if not isinstance(schema, dict):
            return 1
        keywords = cast(dict[str, object], schema).items()
        return 1 + sum(self._parts(keyword, value) for keyword, value in keywords)

    def _parts(self, keyword: str, value: object) -> int:
        if keyword in _REFUSED:
            raise ValueError(f"`{keyword}` cannot be used here; name the properties, and parts of it under `$defs`")
        if keyword == "pattern":
            _matcher(str(value))
        if keyword == "$ref":
            return self._referred(str(value))
        if keyword in _NAMED:
            return sum(self.count(part) for part in as_object(value).values())
        return 0 if keyword in _DATA else sum(self.count(part) for part in [*as_list(value), value])

    def _referred(self, ref: str) -> int:
        start, _, name = ref.rpartition("/")
        definitions = as_object(self._root.get(start.removeprefix("#/")))
        if start not in ("#/$defs", "#/definitions") or name not in definitions:
            raise ValueError(f"`$ref: {ref[:QUOTED]}` leads nowhere; refer to `#/$defs/…`, and define it there")
        if ref not in self._counts:
            self._counts[ref] = 0
            self._counts[ref] = self.count(definitions[name])
        if not self._counts[ref]:
            raise ValueError(f"`$ref: {ref[:QUOTED]}` leads round in a circle; write as many levels as are wanted")
        return self._counts[ref]


@cache
def _matcher(pattern: str) -> TypeAdapter[str]:
    """Matches anywhere in a text, in time that grows with its length only. Raises ValueError."""
    try:
        return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    except BadPattern as error:
        why = " ".join(str(error).split())[-QUOTED:]
        raise ValueError(f"the pattern {pattern[:QUOTED]!r} cannot be used: {why}") from error


def _pattern(validator: object, pattern: str, value: object, schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str):
        try:
            _matcher(pattern).validate_python(value)
        except Unmatched:
            yield ValidationError(f"{value[:QUOTED]!r} does not match {pattern!r}")


def _unique(validator: object, wanted: bool, value: object, schema: object) -> Iterator[ValidationError]:
    items = as_list(value)
    if wanted and len({encode(_plain(item)) for item in items}) < len(items):
        yield ValidationError("an item stands twice")


def _plain(value: object) -> object:
    """A value whose equal numbers are written alike: for a schema 1.0 is 1."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast(list[object], value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_validator = cast(
    Callable[[Schema], _Checks], extend(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique})
)
_best = cast(Callable[[Iterable[ValidationError]], ValidationError], best_match)
"""Of alternatives that all fail, the mistake in the one that was meant says more than that none is right."""
