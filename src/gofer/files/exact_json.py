"""JSON values, with numbers that keep their exact digits.

A number is stored as the bytes of its literal, so an id of thirty digits, `1.10` and `-0` remain unchanged.
"""

import json
from typing import cast

from gofer.values.canonical_json import clean, refuse_constant

Number = bytes
"""The literal of a number in bytes, which distinguishes it from a string."""

_decoder = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=refuse_constant, strict=False)


def parse(text: str) -> object:
    """Return the value of a JSON text: dict, list, str, bool, None or Number.

    Raises ValueError if the text is not exactly one JSON value, or is nested deeper than about a thousand levels.
    """
    try:
        return cast(object, _decoder.decode(text.removeprefix("\ufeff")))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def parse_lines(text: str) -> list[object]:
    """Return the values of JSON Lines, one on each line that is not blank.

    Raises ValueError if a line is not one JSON value.
    """
    return [parse(line) for line in text.removeprefix("\ufeff").split("\n") if line.strip()]


def quote(text: str) -> str:
    """Return a string as JSON, with non-ASCII characters unescaped."""
    return clean(json.dumps(text, ensure_ascii=False))


def scalar(value: object) -> str:
    """Return the JSON of a string, a number, a boolean or null."""
    if isinstance(value, Number):
        return value.decode()
    if isinstance(value, str):
        return quote(value)
    return json.dumps(value)
