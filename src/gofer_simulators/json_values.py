"""Values of JSON: read from text, told apart, taken out by key, and written on the wire."""

import json
import re
from collections.abc import Mapping
from typing import TypeAlias, TypeGuard, cast

JsonObject: TypeAlias = Mapping[str, object]
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Return a JSON object: a mapping with text keys."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[object, object]", value))


def is_array(value: object) -> TypeGuard[list[object]]:
    """Return a JSON array."""
    return isinstance(value, list)


def objects(value: object) -> list[dict[str, object]]:
    """Return the objects of an array; anything else in it, or instead of it, is left out."""
    if is_array(value):
        return [item for item in value if is_object(item)]
    return []


def texts(value: object) -> list[str]:
    """Return the strings of an array; anything else in it, or instead of it, is left out."""
    if is_array(value):
        return [item for item in value if isinstance(item, str)]
    return []


def text_of(value: JsonObject, key: str) -> str:
    """Return the string under a key, or the empty string."""
    found = value.get(key)
    if isinstance(found, str):
        return found
    return ""


def object_of(value: JsonObject, key: str) -> dict[str, object]:
    """Return the object under a key, or an empty one."""
    found = value.get(key)
    if is_object(found):
        return found
    return {}


def parsed(text: str | bytes) -> object:
    """Return the JSON value of a text; ValueError when it is none. Half a surrogate pair becomes U+FFFD."""
    try:
        value: object = json.loads(text, parse_constant=_refuse)
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if written.isascii() or not _HALF_PAIR.search(written):
        return value
    # What no encoding can write would fail only later, where it is sent on.
    return json.loads(_HALF_PAIR.sub("\ufffd", written))


def compact(value: object) -> bytes:
    """Return the JSON of a value as vendors put it on the wire: UTF-8, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")
