"""Python source in the form that `ruff format` keeps: literals, f-strings and calls."""

import builtins
import keyword
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.values.canonical_json import as_list, as_object

WIDTH = 120
_SPLIT = 88
"""About how many characters of a long text are on one line."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a value in its source."""

    indent: int
    """The indent of its line."""
    column: int
    """The column at which it begins."""


def literal(value: object, spot: Spot = Spot(0, 0)) -> str:
    """Return a JSON value as Python. A text that is too long for its line becomes several in parentheses."""
    match value:
        case str():
            return _whole_or_split([(value, False)], spot)
        case list():
            return f"[{', '.join(literal(item) for item in as_list(value))}]"  # pyright: ignore[reportUnknownArgumentType]
        case dict():
            fields = as_object(value)  # pyright: ignore[reportUnknownArgumentType]
            return f"{{{', '.join(f'{quoted(key)}: {literal(inner)}' for key, inner in fields.items())}}}"
        case _:
            return repr(value)


def f_string(parts: Sequence[tuple[str, bool]], spot: Spot) -> str:
    """Return an f-string of texts and names; the second value of a part says whether it is a name."""
    return _whole_or_split(parts, spot)


def quoted(text: str) -> str:
    """Return a text in quotes, in those that need fewer escapes."""
    return _wrapped(_escaped(text), is_format=False)


def argument(name: str, value: str) -> str:
    """Return an argument of a call by name, also by a name that is no identifier; `value` is Python."""
    if name.isidentifier() and name.isascii() and not keyword.iskeyword(name):
        return f"{name}={value}"
    return f"**{{{quoted(name)}: {value}}}"


def call(target: str, arguments: Sequence[str], *, indent: int, assigned: str = "") -> list[str]:
    """Return the lines of an awaited call, on one line if it fits."""
    margin = " " * indent
    begin = f"{margin}await {target}("
    if assigned:
        begin = f"{margin}{assigned} = await {target}("
    whole = f"{begin}{', '.join(arguments)})"
    if len(whole) <= WIDTH and "\n" not in whole:
        return [whole]
    return [begin, *(f"{margin}    {argument}," for argument in arguments), f"{margin})"]


def identifier(words: str, taken: Collection[str]) -> str:
    """Return a name of a variable that is not taken."""
    name = re.sub(r"[^a-z0-9]+", "_", _spaced(words).lower()).strip("_") or "value"
    if name[0].isdigit() or keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name):
        name = f"the_{name}"
    found = name
    number = 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _spaced(words: str) -> str:
    """Return camelCase words with spaces."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", words)


def _whole_or_split(parts: Sequence[tuple[str, bool]], spot: Spot) -> str:
    whole = _string(parts)
    if spot.column + len(whole) < WIDTH:
        return whole
    margin = " " * (spot.indent + 4)
    lines = [f"{margin}{_string(line)}" for line in _lines(parts)]
    if len(lines) == 1:
        return whole
    return "\n".join(["(", *lines, f"{' ' * spot.indent})"])


def _lines(parts: Sequence[tuple[str, bool]]) -> Sequence[Sequence[tuple[str, bool]]]:
    """Return parts in lines of about _SPLIT characters, cut after spaces and line ends."""
    lines: list[list[tuple[str, bool]]] = [[]]
    room = _SPLIT
    for text, is_name in parts:
        pieces = [text]
        if not is_name:
            pieces = cast(list[str], re.findall(r"\S*\n|\S* |\S+", text))
        for piece in pieces:
            if len(piece) > room and lines[-1]:
                lines.append([])
                room = _SPLIT
            lines[-1].append((piece, is_name))
            room -= len(piece)
    return lines


def _string(parts: Sequence[tuple[str, bool]]) -> str:
    is_format = any(is_name for _, is_name in parts)
    inside = "".join(_piece(text, is_name=is_name, is_format=is_format) for text, is_name in parts)
    return _wrapped(inside, is_format=is_format)


def _piece(text: str, *, is_name: bool, is_format: bool) -> str:
    if is_name:
        return f"{{{text}}}"
    escaped = _escaped(text)
    if is_format:
        return escaped.replace("{", "{{").replace("}", "}}")
    return escaped


def _wrapped(inside: str, *, is_format: bool) -> str:
    mark = '"'
    if inside.count('"') > inside.count("'"):
        mark = "'"
    escaped = inside.replace(mark, f"\\{mark}")
    return f"{'f' * is_format}{mark}{escaped}{mark}"


def _escaped(text: str) -> str:
    """Return a text with escapes for everything that is not printable, but without those for quotes."""
    return "".join(_character(char) for char in text)


def _character(char: str) -> str:
    if char == "\\":
        return "\\\\"
    if char in ("'", '"') or char.isprintable():
        return char
    return char.encode("unicode_escape").decode()
