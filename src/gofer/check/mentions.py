"""The names that a Markdown text mentions: tools, skills, subagents, files, and calls with arguments."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from gofer.workflows.mistake import Place

_FENCE = re.compile(r"\s*(?:```|~~~)\s*(\w*)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_WORD = re.compile(r"(?<![\w.:/@#`-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w(/:=@`-]|\.\w)")
_CALL = re.compile(r"(?<![\w.`])([a-z][a-z0-9_]*)\(")
_FILE = re.compile(r"[a-z]+(?:/[\w.-]+)+")
_LINK = re.compile(r"\]\(([\w.-]+(?:/[\w.-]+)*\.\w+)\)")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_BRACKET = re.compile(r"[()\[\]{}]")
_KEY = re.compile(r"(?<![\w.])([a-z][a-z0-9_]*)\s*=(?!=)")
_BEFORE = re.compile(r"\b(skill|subagent)s?:?\s*$", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(skill|subagent)s?\b", re.IGNORECASE)
_CODE = ("python", "py", "js", "javascript", "typescript", "sh", "bash")
"""Languages of blocks that are programs, whose calls are their own."""

Kind = Literal["name", "word", "call", "file", "link"]


@dataclass(frozen=True, slots=True)
class Mention:
    """One name in a text."""

    place: Place
    kind: Kind
    """A name or a file in backticks, a word with underscores outside of them, a call in or outside of them, a link."""
    name: str
    said: Literal["", "skill", "subagent"] = ""
    """What the word beside it says that it is."""
    example: bool = False
    """Whether it stands in a block of code."""
    arguments: tuple[tuple[str, Place], ...] = ()
    """Names of the arguments of a call."""
    strings: tuple[tuple[str, Place], ...] = field(default=())
    """Texts in quotes between its parentheses."""


@lru_cache(maxsize=256)
def mentions(text: str) -> tuple[Mention, ...]:
    """Every mention, in the order of the lines; of a text that was read before they are known."""
    return tuple(_read(text))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are no block of code, each with its number; spaces stand where code stood within a line."""
    in_block = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            in_block = not in_block
        elif not in_block:
            yield number, _without_code(line)


def _without_code(line: str) -> str:
    return _SPAN.sub(lambda span: " " * len(span[0]), line)


def _read(text: str) -> Iterator[Mention]:
    block: list[str] | None = None
    program = False
    for number, line in enumerate(text.split("\n"), 1):
        if fence := _FENCE.match(line):
            if block is not None and not program:
                yield from _calls(number - len(block), "\n".join(block), example=True)
            block = [] if block is None else None
            program = fence[1].lower() in _CODE
        elif block is not None:
            block.append(line)
        else:
            yield from _in_line(number, line)
    if block and not program:
        yield from _calls(text.count("\n") + 2 - len(block), "\n".join(block), example=True)


def _in_line(number: int, line: str) -> Iterator[Mention]:
    for span in _SPAN.finditer(line):
        place, code = Place(number, span.start(1) + 1), span[1]
        if _NAME.fullmatch(code):
            # What stands further away says nothing of it.
            beside = _BEFORE.search(line[max(0, span.start() - 20) : span.start()]) or _BEHIND.match(line, span.end())
            said = beside[1].lower() if beside else ""
            yield Mention(place, "name", code, "skill" if said == "skill" else "subagent" if said else "")
        elif _FILE.fullmatch(code):
            yield Mention(place, "file", code)
        elif _CALL.match(code):
            yield next(_calls(number, code, before=span.start(1)))
    plain = _without_code(line)
    yield from (Mention(Place(number, word.start() + 1), "word", word[0]) for word in _WORD.finditer(plain))
    yield from _calls(number, plain)
    yield from (Mention(Place(number, link.start(1) + 1), "link", link[1]) for link in _LINK.finditer(plain))


def _calls(number: int, text: str, *, before: int = 0, example: bool = False) -> Iterator[Mention]:
    """Calls in some lines, of which the first has that number; `before` is how many characters stand before them."""
    # Parentheses and signs in texts are no syntax.
    bare = _STRING.sub(lambda found: f'"{" " * (len(found[0]) - 2)}"', text)
    calls = {call.end() - 1: call for call in _CALL.finditer(bare)}
    begins = [0, *(line.end() for line in re.finditer("\n", text))]

    def place(at: int) -> Place:
        line = bisect_right(begins, at) - 1
        return Place(number + line, at - begins[line] + 1 + (0 if line else before))

    keys, texts = dict[int, list[tuple[str, Place]]](), dict[int, list[tuple[str, Place]]]()
    for found, inside, call in _inside(text, bare, calls):
        if found.re is _KEY and inside in calls:
            keys.setdefault(inside, []).append((found[1], place(found.start(1))))
        elif found.re is _STRING:
            texts.setdefault(call, []).append((found[0][1:-1], place(found.start() + 1)))
    for at, call in calls.items():
        arguments, strings = tuple(keys.get(at, ())), tuple(texts.get(at, ()))
        yield Mention(place(call.start(1)), "call", call[1], example=example, arguments=arguments, strings=strings)


def _inside(text: str, bare: str, calls: Collection[int]) -> Iterator[tuple[re.Match[str], int, int]]:
    """Names before `=`, and texts in quotes: each with the bracket, and with that of the call, around it; -1 for none.

    Each is looked at once, however deep it stands.
    """
    closed = _closed(bare)
    around: list[tuple[int, int, int]] = []
    marks = [*_BRACKET.finditer(bare), *_KEY.finditer(bare), *_STRING.finditer(text)]
    for found in sorted(marks, key=lambda mark: mark.start()):
        at = found.start()
        while around and around[-1][0] <= at:
            around.pop()
        _, inside, call = around[-1] if around else (0, -1, -1)
        if found.re is not _BRACKET:
            yield found, inside, call
        elif found[0] in "([{":
            # One that is left open holds nothing of the next line.
            around.append((closed.get(at, _line_end(bare, at)), at, at if at in calls else call))


def _closed(text: str) -> dict[int, int]:
    """Where each bracket closes, by where it opens; one that does not is left out."""
    found: dict[int, int] = {}
    left_open: list[int] = []
    for bracket in _BRACKET.finditer(text):
        if bracket[0] in "([{":
            left_open.append(bracket.start())
        elif left_open:
            found[left_open.pop()] = bracket.start()
    return found


def _line_end(text: str, begin: int) -> int:
    end = text.find("\n", begin)
    return len(text) if end < 0 else end
