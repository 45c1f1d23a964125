"""JSON values, with every number as it is written.

A number is kept as the bytes of its literal: an identifier of thirty digits, `1.10` and `-0` come out as they went in.
"""

import json
from typing import cast

from gofer.values.canonical_json import clean, refuse_constant

Number = bytes
"""A number as it is written; `str` is a string."""

_decoder = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=refuse_constant, strict=False)


def parse(text: str) -> object:
    """Return the value: dict, list, str, bool, None, and Number. Raises ValueError for what is not one JSON value.

    JSON that is nested deeper than Python can follow, about a thousand levels, is a ValueError too.
    """
    try:
        return cast(object, _decoder.decode(text.removeprefix("\ufeff")))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def parse_lines(text: str) -> list[object]:
    """Return the values of JSON Lines, one on each line that is not blank.

    Raises ValueError when a line is something else.
    """
    return [parse(line) for line in text.removeprefix("\ufeff").split("\n") if line.strip()]


def quote(text: str) -> str:
    """Return a string as JSON writes it, with its own characters instead of escapes."""
    return clean(json.dumps(text, ensure_ascii=False))


def scalar(value: object) -> str:
    """Return what JSON writes for a value that holds no others."""
    if isinstance(value, Number):
        return value.decode()
    if isinstance(value, str):
        return quote(value)
    return json.dumps(value)
