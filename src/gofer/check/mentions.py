"""Which names does a Markdown text mention in code: tools, skills, subagents, files, and calls with arguments?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from gofer.workflows.mistake import Place

_FENCE = re.compile(r"\s*(?:```|~~~)\s*(\w*)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_CALL = re.compile(r"(?<![\w.`])([a-z][a-z0-9_]*)\(")
_FILE = re.compile(r"[a-z]+(?:/[\w.-]+)+")
_LINK = re.compile(r"\]\(([\w.-]+(?:/[\w.-]+)*\.\w+)\)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_KEY = re.compile(r"(?<![\w.])([a-z][a-z0-9_]*)\s*=(?!=)")
_BEFORE = re.compile(r"\b(skill|subagent)s?:?\s*$", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(skill|subagent)s?\b", re.IGNORECASE)
_CODE = ("python", "py", "js", "javascript", "typescript", "sh", "bash")
"""Languages of blocks that are programs, whose calls are their own."""

Kind = Literal["name", "call", "file", "link"]


@dataclass(frozen=True, slots=True)
class Mention:
    """One name in a text."""

    place: Place
    kind: Kind
    """A name or a file in backticks, a call in backticks or anywhere else, a link."""
    name: str
    said: Literal["", "skill", "subagent"] = ""
    """What the word beside it says that it is."""
    example: bool = False
    """Whether it stands in a block of code."""
    arguments: tuple[tuple[str, Place], ...] = ()
    """Names of the arguments of a call."""
    strings: tuple[tuple[str, Place], ...] = field(default=())
    """Texts in quotes between its parentheses."""


def mentions(text: str) -> Iterator[Mention]:
    """Every mention, in the order of the lines."""
    fenced, program = False, False
    for number, line in enumerate(text.split("\n"), 1):
        if fence := _FENCE.match(line):
            fenced, program = not fenced, not fenced and fence[1].lower() in _CODE
        elif fenced and not program:
            yield from _calls(number, line, example=True)
        elif not fenced:
            yield from _in_line(number, line)


def _in_line(number: int, line: str) -> Iterator[Mention]:
    for span in _SPAN.finditer(line):
        place, code = Place(number, span.start(1) + 1), span[1]
        if _NAME.fullmatch(code):
            beside = _BEFORE.search(line[: span.start()]) or _BEHIND.match(line[span.end() :])
            said = beside[1].lower() if beside else ""
            yield Mention(place, "name", code, "skill" if said == "skill" else "subagent" if said else "")
        elif _FILE.fullmatch(code):
            yield Mention(place, "file", code)
        elif _CALL.match(code):
            yield next(_calls(number, code, before=span.start(1)))
    plain = _SPAN.sub(lambda span: " " * len(span[0]), line)
    yield from _calls(number, plain)
    yield from (Mention(Place(number, link.start(1) + 1), "link", link[1]) for link in _LINK.finditer(plain))


def _calls(number: int, line: str, *, before: int = 0, example: bool = False) -> Iterator[Mention]:
    """Calls in a line; `before` is how many characters stand before it."""
    # Parentheses and signs in texts are no syntax.
    bare = _STRING.sub(lambda text: f'"{" " * (len(text[0]) - 2)}"', line)
    for call in _CALL.finditer(bare):
        begin, end = call.end(), _closed(bare, call.end())
        inner = _without_nested(bare[begin:end])
        keys = ((key[1], Place(number, before + begin + key.start(1) + 1)) for key in _KEY.finditer(inner))
        texts = (
            (found[0][1:-1], Place(number, before + begin + found.start() + 2))
            for found in _STRING.finditer(line[begin:end])
        )
        place = Place(number, before + call.start(1) + 1)
        yield Mention(place, "call", call[1], example=example, arguments=tuple(keys), strings=tuple(texts))


def _closed(line: str, begin: int) -> int:
    """Where the parenthesis closes that is open at a place; the end of the line when it does not."""
    depth = 1
    for at in range(begin, len(line)):
        depth += (line[at] in "([{") - (line[at] in ")]}")
        if depth == 0:
            return at
    return len(line)


def _without_nested(inner: str) -> str:
    """What stands between two parentheses, with blanks for what stands in further ones."""
    depth, kept = 0, ""
    for char in inner:
        depth -= char in ")]}"
        kept += char if depth == 0 else " "
        depth += char in "([{"
    return kept
