"""The schema of arguments as a model reads it, and sentences that tell it which arguments of a call are wrong."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import cast

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from gofer.values.canonical_json import as_list, as_object, as_text

MOST = 5
"""Sentences about one call at most; the others are counted."""
_QUOTED = 60
"""Characters that are quoted of a value."""

Place = tuple[int | str, ...]
"""The way to a value: names and positions from the top of the arguments."""
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
"""What a place takes, by the code of what pydantic found there."""
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
    """Return the schema as text, which no reader can change; pydantic takes a millisecond to make it."""
    schema = arguments.model_json_schema()
    parts = as_object(schema.pop("$defs", {}))
    return json.dumps(_plain({key: value for key, value in schema.items() if key != "description"}, parts))


def _plain(value: object, parts: Mapping[str, object]) -> object:
    """Return a JSON Schema without what says nothing to a model, which pays for every byte.

    That is: titles and docstrings, null and empty defaults (a model leaves out what it does not want), bounds that
    every sensible value keeps, and names of parts; `parts` are written where they belong, so that none may hold itself.
    The arguments are checked by all bounds, and the answer to wrong ones names them.
    """
    if isinstance(value, list):
        return [_plain(item, parts) for item in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    fields = dict(cast(Mapping[str, object], value))
    options = as_list(fields.pop("anyOf", None))
    # Null stays where it is a value; where it is the default it means what leaving out means.
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
            # Zero is a number here: only what is empty says nothing.
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
    """Return what is wrong with arguments, a sentence for each place.

    `schema` is the JSON Schema of the arguments without references, as the model reads it.
    """
    unknown: dict[Place, list[str]] = {}
    wrong: dict[Place, list[ErrorDetails]] = {}
    for error in errors:
        if error["type"] == "extra_forbidden":
            unknown.setdefault(error["loc"][:-1], []).append(str(error["loc"][-1]))
        else:
            wrong.setdefault(_known(given, error), []).append(error)
    told = [_unknown(schema, place, names) for place, names in unknown.items()]
    told += [_wrong(schema, given, place, found) for place, found in wrong.items()]
    more = [f"{len(told) - MOST} more places are wrong."] * (len(told) > MOST)
    return " ".join([*told[:MOST], *more])


def _unknown(schema: Mapping[str, object], place: Place, names: Sequence[str]) -> str:
    """Name the arguments that exist, and then those that do not."""
    there = ", ".join(as_object(_part(schema, place).get("properties"))) or "no arguments"
    missing = " and no ".join(name[:_QUOTED] for name in names)
    return f"{_subject(place)} takes {there}; there is no {missing}."


def _wrong(schema: Mapping[str, object], given: object, place: Place, errors: Sequence[ErrorDetails]) -> str:
    """Say what a value must be and what the model gave; each alternative of a union has an error of its own."""
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
        # A pattern alone is a riddle.
        wanted = f"{wanted} ({described.rstrip('.')})"
    return f"{_subject(place)} must be {wanted}; you gave {_quoted(_at(given, place))}."


def _wanted(error: ErrorDetails) -> str:
    if bound := _BOUNDS.get(error["type"]):
        return bound(error.get("ctx", {}))
    return _WANTED[error["type"]]


def _known(given: object, error: ErrorDetails) -> Place:
    """Return the place of an error without the names of alternatives that pydantic adds to it."""
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
    """Return the part of a schema that a place has; an empty one where the schema leaves it open."""
    for step in place:
        named = as_object(schema.get("properties")).get(str(step))
        schema = as_object(named or schema.get("items") or schema.get("additionalProperties"))
    return schema


def _subject(place: Place) -> str:
    """Return a place as a model would write it: `todos[0].status`; at the top "it", which is the tool."""
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
    """Return a value as it was given, a long one by its kind and size."""
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
