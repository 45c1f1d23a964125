"""Canonical JSON: the bytes of a value, and the strict reading of bytes from outside.

`encode` writes all JSON that Gofer hashes, stores or sends to a model. Equal values give equal bytes on every machine.
`decode` reads bytes from outside: strict UTF-8, bounded depth, no NaN, no infinity.
"""

import json
import math
from collections.abc import Mapping
from typing import NoReturn, cast

from gofer.values.errors import BadRequest

MAX_DEPTH = 100
"""The levels of nesting accepted from outside. Real payloads of every vendor have fewer than 30."""

_GZIP = b"\x1f\x8b"
"""The first bytes of every gzip file. No text in UTF-8 begins with them."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0[")
"""How JSON in UTF-16 begins: with a byte order mark, or with a bracket of two bytes."""

_BREAKS = "\x85\u2028\u2029"
"""Characters that end a line in Unicode and that JSON does not escape."""

_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def encode(value: object) -> bytes:
    """Return the canonical bytes of a JSON value: sorted keys, no spaces, UTF-8. Raises ValueError for NaN."""
    return encode_text(value).encode()


def encode_text(value: object) -> str:
    """Return `encode` as text. Lone surrogates, which UTF-8 cannot carry, become U+FFFD."""
    return clean(_encoder.encode(value))


def clean(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD, so that it can be stored and sent anywhere."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def one_line(text: str) -> str:
    """Return JSON that is one line by the rules of Unicode as well."""
    for char in _BREAKS:
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def indented(text: str, margin: str = "    ") -> list[str]:
    """Return the lines of a text by people, each after a margin, so that none can imitate a line by Gofer.

    Every character that any reader may take for the end of a line ends one, as `str.splitlines` says.
    """
    return [f"{margin}{line}" for line in text.splitlines()]


def decode(raw: bytes) -> object:
    """Return the JSON value of bytes from outside. Raises BadRequest(400) if they are not strict JSON."""
    text = decode_text(raw)
    if not text.strip():
        raise BadRequest(400, "The body is empty.", code="body_empty")
    try:
        value: object = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise BadRequest(400, "The body is not JSON.", code="body_not_json") from error
    except ValueError as error:
        message = "The body holds NaN, an infinity or a number of thousands of digits."
        raise BadRequest(400, message, code="body_number") from error
    except RecursionError as error:
        raise _too_deep() from error
    # A value cannot be nested deeper than the number of opening brackets, and most bodies have few.
    if text.count("{") + text.count("[") > MAX_DEPTH and deeper_than(value, MAX_DEPTH):
        raise _too_deep()
    return value


def decode_text(raw: bytes) -> str:
    """Return the text of a body without a byte order mark, which some senders write before it.

    Raises BadRequest(400) for bytes that are compressed or not UTF-8.
    """
    if raw.startswith(_GZIP):
        raise BadRequest(400, "The body is compressed with gzip; send it as it is.", code="body_compressed")
    if raw.startswith(_UTF16):
        raise BadRequest(400, "The body is text in UTF-16; send it in UTF-8.", code="body_not_utf8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(400, "The body is not text in UTF-8.", code="body_not_utf8") from error


def as_object(value: object) -> Mapping[str, object]:
    """Return the value if it is a JSON object, else an empty object, to read fields that may be absent."""
    if isinstance(value, dict):
        return cast(Mapping[str, object], value)
    return {}


def as_list(value: object) -> list[object]:
    """Return the value if it is a JSON array, else an empty list."""
    if isinstance(value, list):
        return cast(list[object], value)
    return []


def as_text(value: object) -> str:
    """Return the value if it is a string, cleaned of lone surrogates, else the empty string."""
    if isinstance(value, str):
        return clean(value)
    return ""


def refuse_constant(name: str) -> NoReturn:
    """Raise ValueError for NaN and Infinity, which are not JSON. A function for `parse_constant`."""
    raise ValueError(f"{name} is not JSON")


def finite(text: str) -> float:
    """Return a number, for `parse_float`. Raises ValueError for a number too large for a float."""
    if math.isfinite(value := float(text)):
        return value
    raise ValueError(f"{text} is too large a number")


_decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)


def deeper_than(value: object, levels: int) -> bool:
    """Return whether a JSON value is nested deeper than `levels`, without recursion."""
    layer = [value]
    for _ in range(levels):
        layer = [child for parent in layer for child in _children(parent)]
        if not layer:
            return False
    return True


def _too_deep() -> BadRequest:
    return BadRequest(400, f"The body is nested deeper than {MAX_DEPTH} levels.", code="body_too_deep")


def not_json(value: object, at: str = "") -> str:
    """Return the first part of a Python value that is not JSON, as `<path> is …`; empty for JSON.

    `at` is the path of the value. Its parts follow after `/`.
    """
    place = at or "/"
    if at.count("/") > MAX_DEPTH:
        return f"{place[:100]}… is nested deeper than {MAX_DEPTH} levels"
    if isinstance(value, dict):
        fields = cast(dict[object, object], value)
        if odd := [name for name in fields if not isinstance(name, str)]:
            return f"{place} has the key {odd[0]!r}, which is no text"
        return next(filter(None, (not_json(inner, f"{at}/{name}") for name, inner in fields.items())), "")
    if isinstance(value, list):
        items = enumerate(cast(list[object], value))
        return next(filter(None, (not_json(inner, f"{at}/{number}") for number, inner in items)), "")
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is {value}"
    if value is None or isinstance(value, str | bool | int | float):
        return ""
    return f"{place} is of the type {type(value).__name__}"


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast(dict[str, object], value).values())
    if isinstance(value, list):
        return cast(list[object], value)
    return []
