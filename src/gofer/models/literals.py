"""JSON and Python literals anywhere in a text, and calls in the form of Python with such arguments.

Nothing is evaluated. The reader forgives what models get wrong: other quotes, keys without quotes, trailing commas and
line breaks in strings. It looks at each character a bounded number of times, however the text is nested.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gofer.values.canonical_json import MAX_DEPTH, clean

_BEGIN = re.compile(r"\{(?=\s*+[\"'“>A-Za-z_])|\[(?=\s*+[{\[A-Za-z_(\"'\d-])|(?<![\w.-])[A-Za-z_][\w.-]{0,127}\(")
_SPACE = re.compile(r"(?:\s++|(?<=\n)>|//[^\n]*+|#[^\n]*+)*+")
"""White space, comments, and the marks of a quoted line."""
_TOKEN = re.compile(
    r'(?P<text>[rbfu]?(?:"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""'
    r"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''"
    r'|"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    r"|'[^'\\]*+(?:\\.[^'\\]*+)*+'"
    r"|“[^”]*+”))"
    r"|(?P<number>-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?(?![\w.]))"
    r"|(?P<named>[A-Za-z_]\w{0,127}\s{0,9}=(?!=))"
    r"|(?P<call>[A-Za-z_][\w.-]{0,127}\()"
    r"|(?P<word>[A-Za-z_]\w{0,127})"
    r"|(?P<mark>[{}\[\](),:])",
    re.DOTALL,
)
_END = re.compile(r"[\w.-]{0,128}\s*+(?:\Z|```|~~~)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_CONSTANTS: Mapping[str, object] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call in the form of Python, such as `print("a", end="")`."""

    name: str
    positional: tuple[object, ...]
    named: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Part:
    """An object or an invocation in a text."""

    begin: int
    end: int
    value: Mapping[str, object] | Invocation


@dataclass(frozen=True, slots=True)
class Literal:
    """The outermost literal at one place of a text."""

    begin: int
    end: int
    value: object
    """The value; None if the literal is broken."""
    parts: tuple[Part, ...]
    """The complete objects and invocations in it, inner ones first."""
    unfinished: tuple[Mapping[str, object], ...] = ()
    """The objects that the end of the text or of its code cuts off, outer ones first, with the keys so far. An
    invocation is an object with `name`, and `arguments` once one began."""


class _Broken(Exception):
    """The text at a place continues no literal."""


def literals(text: str) -> Iterator[Literal]:
    """Return the outermost objects, lists and invocations of a text, in order, also the complete parts of broken ones.

    A broken one may have begun with a quote in a sentence, so its last string is read once more for what is in it.
    """
    place = 0
    again = len(text)
    while begin := _BEGIN.search(text, place):
        reader = _Reader(text, begin.start())
        value = reader.outermost()
        yield Literal(begin.start(), reader.place, value, tuple(reader.parts), reader.unfinished)
        place = max(reader.place, begin.start() + 1)
        if value is None and (repeated := place - reader.last_string) <= again:
            again -= repeated
            place = max(reader.last_string, begin.start() + 1)


def whole_literal(text: str) -> object:
    """Return the value of a text that consists of one literal; None for any other text."""
    reader = _Reader(text, 0)
    try:
        value = reader.value(0)
        reader.skip_space()
    except _Broken:
        return None
    if reader.place < len(text):
        return None
    return value


class _Reader:
    """Reads one literal from a place on. `place` moves behind every token that was taken."""

    def __init__(self, text: str, place: int) -> None:
        self.place = place
        self.last_string = place
        """The place behind the quote that opens the last string."""
        self.parts: list[Part] = []
        self.unfinished: tuple[Mapping[str, object], ...] = ()
        self._open: list[Mapping[str, object]] = []
        self._text = text

    def outermost(self) -> object:
        """Return the value at the place, or None if it is broken."""
        try:
            return self.value(0)
        except _Broken:
            if self._is_cut_off():
                self.unfinished = tuple(self._open)
            return None

    def value(self, depth: int) -> object:
        """Return the next value. Raises _Broken."""
        token = self._token()
        if depth > MAX_DEPTH:
            raise _Broken
        match token.lastgroup, token[0]:
            case "text", _:
                return self._string(token)
            case "number", digits:
                self.place = token.end()
                return _number(digits)
            case "word", word if word in _CONSTANTS:
                self.place = token.end()
                return _CONSTANTS[word]
            case "call", _:
                return self._invocation(token, depth)
            case "mark", "{":
                return self._object(token, depth)
            case "mark", "[":
                return self._list("]", token, depth)
            case "mark", "(":
                group = self._list(")", token, depth)
                # Parentheses around one value are no tuple, except with a comma, which no model writes.
                return group[0] if len(group) == 1 else group
            case _:
                raise _Broken

    def skip_space(self) -> None:
        """Move behind white space."""
        if space := _SPACE.match(self._text, self.place):
            self.place = space.end()

    def _token(self) -> re.Match[str]:
        self.skip_space()
        token = _TOKEN.match(self._text, self.place)
        if token is None:
            raise _Broken
        return token

    def _take(self, mark: str) -> bool:
        """Move behind a mark, and return whether it was there."""
        token = self._token()
        if token[0] == mark:
            self.place = token.end()
        return token[0] == mark

    def _string(self, token: re.Match[str]) -> str:
        """Return a string with the strings that directly follow it, which Python joins."""
        found = ""
        while token.lastgroup == "text":
            self.last_string = self.place + 1
            self.place = token.end()
            found += _unquoted(token[0])
            token = self._token()
        return found

    def _items(self, end: str, item: Callable[[], None]) -> None:
        """Read items between commas up to the mark `end`."""
        while not self._take(end):
            item()
            if not self._take(","):
                if self._take(end):
                    return
                raise _Broken

    def _list(self, end: str, begin: re.Match[str], depth: int) -> list[object]:
        self.place = begin.end()
        found: list[object] = []
        self._items(end, lambda: found.append(self.value(depth + 1)))
        return found

    def _object(self, begin: re.Match[str], depth: int) -> Mapping[str, object]:
        self.place = begin.end()
        found: dict[str, object] = {}

        def item() -> None:
            key = self._key()
            found[key] = None
            found[key] = self.value(depth + 1)

        self._open.append(found)
        self._items("}", item)
        self._open.pop()
        self.parts.append(Part(begin.start(), self.place, found))
        return found

    def _key(self) -> str:
        token = self._token()
        match token.lastgroup:
            case "text":
                self.last_string = self.place + 1
                key = _unquoted(token[0])
            case "word":
                key = token[0]
            case _:
                raise _Broken
        self.place = token.end()
        if not self._take(":"):
            raise _Broken
        return key

    def _invocation(self, begin: re.Match[str], depth: int) -> Invocation:
        self.place = begin.end()
        name = begin[0][:-1]
        positional: list[object] = []
        named: dict[str, object] = {}

        opened: dict[str, object] = {"name": name}

        def item() -> None:
            opened["arguments"] = named
            token = self._token()
            if token.lastgroup != "named":
                positional.append(self.value(depth + 1))
                return
            self.place = token.end()
            key = token[0][:-1].strip()
            named[key] = None
            named[key] = self.value(depth + 1)

        self._open.append(opened)
        self._items(")", item)
        self._open.pop()
        found = Invocation(name, tuple(positional), named)
        self.parts.append(Part(begin.start(), self.place, found))
        return found

    def _is_cut_off(self) -> bool:
        """Return whether the text, or the fence around it, ends here or in the string that begins here."""
        if _END.match(self._text, self.place):
            return True
        begins_string = self._text[self.place] in "\"'"
        return begins_string and _TOKEN.match(self._text, self.place) is None


def _unquoted(quoted: str) -> str:
    """Return the characters of a string between quotes."""
    quoted = quoted.lstrip("rbfu")
    quotes = 1
    if quoted[:3] in ('"""', "'''") and len(quoted) >= 6:
        quotes = 3
    inner = quoted[quotes:-quotes]
    if "\\" not in inner:
        return clean(inner)
    return clean(_ESCAPE.sub(_unescaped, inner))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)


def _number(digits: str) -> int | float:
    if digits.lstrip("-").isdecimal():
        return int(digits)
    return float(digits)
