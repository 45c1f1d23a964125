"""Values as lines of JSON: one object a line, keys sorted."""

import json
from collections.abc import Iterable


def line(value: object) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def lines(values: Iterable[object]) -> str:
    """Return values as lines of JSON."""
    return "".join(f"{line(value)}\n" for value in values)


def pretty(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def content(raw: bytes) -> str:
    """Return the content of a request as text; of bytes that are no text their hexadecimal digits."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return f"hex {raw.hex()}"
