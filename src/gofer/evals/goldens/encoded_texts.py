"""Changes texts that are written as parts of URLs, as escaped JSON or as HTML, such as `%5Aora`.

A change keeps the number of characters. So each character is written again as it was written, and all others stay.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes


@dataclass(frozen=True, slots=True)
class _Encoding:
    mark: str
    """The character with which an encoded character begins."""
    unit: re.Pattern[str]
    decoded: Callable[[str], Sequence[tuple[str, str]]]
    """Returns each character of a unit, with how the unit writes it."""
    encoded: Callable[[str, str], str]
    """Writes a character like another one was written."""


def decodings(text: str) -> Iterator[str]:
    """Yield what a text says in each encoding, if it says something else than the text."""
    for encoding in _ENCODINGS:
        if encoding.mark in text:
            decoded = "".join(char for char, _ in _characters(text, encoding))
            if decoded != text:
                yield decoded


def within_encodings(text: str, change: Callable[[str], str]) -> str:
    """Return a text with `change` done to what the text says in each encoding.

    `change` returns a text with as many characters.
    """
    for encoding in _ENCODINGS:
        if encoding.mark in text:
            text = _changed(text, encoding, change)
    return text


def _changed(text: str, encoding: _Encoding, change: Callable[[str], str]) -> str:
    characters = list(_characters(text, encoding))
    decoded = "".join(char for char, _ in characters)
    if decoded == text:
        return text
    changed = change(decoded)
    if changed == decoded:
        return text
    written: list[str] = []
    for new, (old, like) in zip(changed, characters, strict=True):
        if new == old:
            written.append(like)
        elif like == old:
            written.append(new)
        else:
            written.append(encoding.encoded(new, like))
    return "".join(written)


def _characters(text: str, encoding: _Encoding) -> Iterator[tuple[str, str]]:
    end = 0
    for unit in encoding.unit.finditer(text):
        yield from ((char, char) for char in text[end : unit.start()])
        yield from encoding.decoded(unit[0])
        end = unit.end()
    yield from ((char, char) for char in text[end:])


def _from_percents(unit: str) -> Sequence[tuple[str, str]]:
    try:
        text = unquote_to_bytes(unit).decode()
    except UnicodeDecodeError:
        return [(char, char) for char in unit]
    found: list[tuple[str, str]] = []
    at = 0
    for char in text:
        end = at + 3 * len(char.encode())
        found.append((char, unit[at:end]))
        at = end
    return found


def _to_percents(char: str, like: str) -> str:
    written = "".join(f"%{byte:02X}" for byte in char.encode())
    if like.upper() != like:
        return written.lower()
    return written


def _from_escape(unit: str) -> Sequence[tuple[str, str]]:
    char = str(json.loads(f'"{unit}"'))
    if len(char) != 1:
        return [(one, one) for one in unit]
    return [(char, unit)]


def _to_escape(char: str, like: str) -> str:
    digits = char.encode("utf-16-be").hex()
    written = "".join(f"\\u{digits[at : at + 4]}" for at in range(0, len(digits), 4))
    if like[2:].upper() == like[2:]:
        return written.upper().replace("\\U", "\\u")
    return written


def _from_entity(unit: str) -> Sequence[tuple[str, str]]:
    char = html.unescape(unit)
    if len(char) != 1:
        return [(one, one) for one in unit]
    return [(char, unit)]


def _to_entity(char: str, _like: str) -> str:
    return f"&#{ord(char)};"


_ENCODINGS = (
    _Encoding("%", re.compile(r"(?:%[0-9a-fA-F]{2})+"), _from_percents, _to_percents),
    _Encoding(
        "\\",
        re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]'),
        _from_escape,
        _to_escape,
    ),
    _Encoding("&", re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});"), _from_entity, _to_entity),
)
