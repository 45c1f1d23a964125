"""The JSON Schema of a tool's arguments for the model, and sentences about wrong arguments of a call."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import cast

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from gofer.values.canonical_json import as_list, as_object, as_text

MOST = 5
"""The most sentences about one call; further ones are only counted."""
_QUOTED = 60
"""The most characters of a quoted value."""

Place = tuple[int | str, ...]
"""The path to a value: names and positions from the top of the arguments."""
Bounds = Mapping[str, object]

_WANTED = {
    "string_type": "a text",
    "string_unicode": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
"""The expected value in words, by pydantic's error type."""
_BOUNDS: Mapping[str, Callable[[Bounds], str]] = {
    "literal_error": lambda bounds: as_text(bounds["expected"]),
    "string_pattern_mismatch": lambda bounds: f"a text that matches {bounds['pattern']}",
    "string_too_short": lambda bounds: f"a text of {bounds['min_length']} or more characters",
    "string_too_long": lambda bounds: f"a text of {bounds['max_length']:,} characters at most",
    "too_short": lambda bounds: f"a list of {bounds['min_length']} or more items",
    "too_long": lambda bounds: f"a list of {bounds['max_length']} items at most",
    "greater_than_equal": lambda bounds: f"{bounds['ge']} or more",
    "greater_than": lambda bounds: f"more than {bounds['gt']}",
    "less_than_equal": lambda bounds: f"{bounds['le']} or less",
    "less_than": lambda bounds: f"less than {bounds['lt']}",
}


def parameters_of(arguments: type[BaseModel]) -> Mapping[str, object]:
    """Return the JSON Schema of arguments as a model reads it."""
    return as_object(json.loads(_parameters(arguments)))


@cache
def _parameters(arguments: type[BaseModel]) -> str:
    """Return the schema as immutable text. Cached because pydantic takes a millisecond to create it."""
    schema = arguments.model_json_schema()
    parts = as_object(schema.pop("$defs", {}))
    return json.dumps(_plain({key: value for key, value in schema.items() if key != "description"}, parts))


def _plain(value: object, parts: Mapping[str, object]) -> object:
    """Return a JSON Schema without parts that do not help a model, because every request contains the schema.

    Removed are titles, docstrings, null and empty defaults, and bounds that sensible values always keep. References are
    replaced by their `parts`, so a part must not contain itself. Validation still checks all bounds, and the error for
    wrong arguments names them.
    """
    if isinstance(value, list):
        return [_plain(item, parts) for item in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    fields = dict(cast(Mapping[str, object], value))
    options = as_list(fields.pop("anyOf", None))
    # Null as the default means the same as leaving the argument out, so only other nulls stay.
    if "default" in fields and fields["default"] is None:
        options = [option for option in options if option != {"type": "null"}]
    if len(options) == 1:
        fields = {**as_object(options[0]), **fields}
    elif options:
        fields = {"anyOf": options, **fields}
    if named := as_text(fields.pop("$ref", "")):
        part = as_object(parts[named.rpartition("/")[2]])
        fields = {**{key: item for key, item in part.items() if key != "description"}, **fields}
    return {key: _plain(item, parts) for key, item in fields.items() if not _says_nothing(key, item)}


def _says_nothing(key: str, item: object) -> bool:
    match key:
        case "title":
            return isinstance(item, str)
        case "default":
            # The default 0 stays, because it is a meaningful number.
            return item is None or item is False or item in ("", [])
        case "additionalProperties":
            return isinstance(item, bool)
        case "minLength" | "maxLength" | "minItems" | "maxItems":
            return isinstance(item, int)
        case "minimum":
            return item in (0, 1)
        case _:
            return False


def sentences(schema: Mapping[str, object], given: object, errors: Sequence[ErrorDetails]) -> str:
    """Return the mistakes in arguments, one sentence for each place.

    `schema` is the JSON Schema of the arguments without references, as the model reads it.
    """
    unknown: dict[Place, list[str]] = {}
    wrong: dict[Place, list[ErrorDetails]] = {}
    for error in errors:
        if error["type"] == "extra_forbidden":
            unknown.setdefault(error["loc"][:-1], []).append(str(error["loc"][-1]))
        else:
            wrong.setdefault(_known(given, error), []).append(error)
    lines = [_unknown(schema, place, names) for place, names in unknown.items()]
    lines += [_wrong(schema, given, place, found) for place, found in wrong.items()]
    more = [f"{len(lines) - MOST} more places are wrong."] * (len(lines) > MOST)
    return " ".join([*lines[:MOST], *more])


def _unknown(schema: Mapping[str, object], place: Place, names: Sequence[str]) -> str:
    """Return a sentence with the existing arguments and the unknown ones."""
    there = ", ".join(as_object(_part(schema, place).get("properties"))) or "no arguments"
    missing = " and no ".join(name[:_QUOTED] for name in names)
    return f"{_subject(place)} takes {there}; there is no {missing}."


def _wrong(schema: Mapping[str, object], given: object, place: Place, errors: Sequence[ErrorDetails]) -> str:
    """Return a sentence with the expected and the given value. Each alternative of a union has its own error."""
    first = errors[0]
    described = as_text(_part(schema, place).get("description"))
    if not place:
        return f"the arguments must be an object; you gave {_quoted(given)}."
    if first["type"] == "missing":
        told = f": {described.rstrip('.')}" * bool(described)
        return f"{_subject(place)} is missing{told}."
    if not all(error["type"] in _WANTED or error["type"] in _BOUNDS for error in errors):
        return f"{_subject(place)}: {first['msg'].removeprefix('Value error, ').rstrip('.')}."
    wanted = " or ".join(dict.fromkeys(map(_wanted, errors)))
    if first["type"] == "string_pattern_mismatch" and described:
        # A pattern without a description is hard to understand.
        wanted = f"{wanted} ({described.rstrip('.')})"
    return f"{_subject(place)} must be {wanted}; you gave {_quoted(_at(given, place))}."


def _wanted(error: ErrorDetails) -> str:
    if bound := _BOUNDS.get(error["type"]):
        return bound(error.get("ctx", {}))
    return _WANTED[error["type"]]


def _known(given: object, error: ErrorDetails) -> Place:
    """Return the place of an error without the names of union alternatives that pydantic adds."""
    place = error["loc"]
    if error["type"] == "missing":
        return place
    for length in range(len(place)):
        if not _holds(_at(given, place[:length]), place[length]):
            return place[:length]
    return place


def _holds(value: object, step: int | str) -> bool:
    if isinstance(step, int):
        return step < len(as_list(value))
    return step in as_object(value)


def _at(given: object, place: Place) -> object:
    for step in place:
        match step:
            case int():
                given = as_list(given)[step]
            case str():
                given = as_object(given)[step]
    return given


def _part(schema: Mapping[str, object], place: Place) -> Mapping[str, object]:
    """Return the part of a schema for a place; empty if the schema does not describe the place."""
    for step in place:
        named = as_object(schema.get("properties")).get(str(step))
        schema = as_object(named or schema.get("items") or schema.get("additionalProperties"))
    return schema


def _subject(place: Place) -> str:
    """Return a place as the subject of a sentence, such as `todos[0].status`; "it" (the tool) for the top."""
    if not place:
        return "it"
    written = ""
    for step in place:
        match step:
            case int():
                written += f"[{step}]"
            case str():
                written += f".{step[:_QUOTED]}"
    return f"`{written.removeprefix('.')}`"


def _quoted(value: object) -> str:
    """Return a short value as JSON, and a long value by its type and size."""
    written = json.dumps(value, ensure_ascii=False, default=repr)
    if len(written) <= _QUOTED:
        return written
    match value:
        case str():
            return f"a text of {len(value):,} characters"
        case list():
            return f"a list of {len(cast(list[object], value)):,} items"
        case _:
            return "a long value"
