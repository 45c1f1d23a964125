"""JSON values: parsing, type checks, reading by key, and compact writing."""

import json
import re
from collections.abc import Mapping
from typing import TypeAlias, TypeGuard, cast

JsonObject: TypeAlias = Mapping[str, object]
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Return whether a value is a JSON object: a dict with only text keys."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[object, object]", value))


def is_array(value: object) -> TypeGuard[list[object]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


def objects(value: object) -> list[dict[str, object]]:
    """Return the objects of an array without its other values; a value that is no array has none."""
    if is_array(value):
        return [item for item in value if is_object(item)]
    return []


def texts(value: object) -> list[str]:
    """Return the strings of an array without its other values; a value that is no array has none."""
    if is_array(value):
        return [item for item in value if isinstance(item, str)]
    return []


def text_of(value: JsonObject, key: str) -> str:
    """Return the string under a key, or the empty string if there is none."""
    found = value.get(key)
    if isinstance(found, str):
        return found
    return ""


def object_of(value: JsonObject, key: str) -> dict[str, object]:
    """Return the object under a key, or an empty object if there is none."""
    found = value.get(key)
    if is_object(found):
        return found
    return {}


def parsed(text: str | bytes) -> object:
    """Return the JSON value of a text, with half a surrogate pair as U+FFFD. Raises ValueError for invalid JSON."""
    try:
        value: object = json.loads(text, parse_constant=_refuse)
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if written.isascii() or not _HALF_PAIR.search(written):
        return value
    # UTF-8 cannot encode half a surrogate pair, so a later send of this value would fail.
    return json.loads(_HALF_PAIR.sub("\ufffd", written))


def compact(value: object) -> bytes:
    """Return a value as vendors send it: JSON in UTF-8 without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")
