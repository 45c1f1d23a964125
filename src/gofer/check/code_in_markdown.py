"""The code of a Markdown text: words in backticks, calls with their arguments, and the targets of links."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gofer.workflows.mistake import Place

_FENCE = re.compile(r"\s*(?:```|~~~)\s*(\w*)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(([\w.-]+(?:/[\w.-]+)*\.\w+)\)")
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"|(?P<call>(?<![\w.])[a-z][a-z0-9_]*(?=\())"
    r"|(?P<argument>(?<![\w.])[a-z][a-z0-9_]*(?=\s*=(?!=)))"
    r"|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])"
)
_WORD = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_PLAIN = ("", "text")
"""The languages of code blocks that may contain tool calls; other blocks are programs or data."""


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a text and its place."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """A name with parentheses, such as `file_read(file="file_1")`."""

    name: Word
    arguments: tuple[Word, ...]
    """The names of the arguments."""
    strings: tuple[tuple[str, Word], ...]
    """Each text in quotes, without the quotes, after the name of its argument."""
    is_nested: bool
    """Whether the call is an argument of another call."""


@dataclass(frozen=True, slots=True)
class Code:
    """Everything in a Markdown text that is not prose."""

    spans: tuple[Word, ...]
    """The texts in single backticks."""
    calls: tuple[Call, ...]
    """The calls in single backticks and in plain blocks of code."""
    links: tuple[Word, ...]
    """The relative paths of files in links."""
    words: frozenset[str]
    """The words in blocks of programs and data."""


@lru_cache(maxsize=256)
def code_in(text: str) -> Code:
    """Return the code of a Markdown text."""
    page = _Page.of(text)
    spans = [(found.start(1), found.end(1)) for line in page.prose for found in _SPAN.finditer(text, *line)]
    calls = [call for region in (*spans, *page.blocks) for call in page.calls(*region)]
    links = [page.word(found.start(1), found.end(1)) for line in page.prose for found in _LINK.finditer(text, *line)]
    words = frozenset(word for region in page.programs for word in _WORD.findall(text, *region))
    return Code(tuple(page.word(*span) for span in spans), tuple(calls), tuple(links), words)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line outside of code blocks with its number; spaces replace the code in a line."""
    page = _Page.of(text)
    for begin, end in page.prose:
        line = _SPAN.sub(lambda span: " " * len(span[0]), text[begin:end])
        yield page.place(begin).line, line


@dataclass(slots=True)
class _Open:
    """A call whose closing parenthesis the parser has not reached."""

    name: Word
    is_nested: bool
    arguments: list[Word]
    strings: list[tuple[str, Word]]

    def add(self, text: Word) -> None:
        """Add a text in quotes to the last named argument."""
        argument = ""
        if self.arguments:
            argument = self.arguments[-1].text
        self.strings.append((argument, text))

    def closed(self) -> Call:
        return Call(self.name, tuple(self.arguments), tuple(self.strings), self.is_nested)

    def cut(self) -> Call:
        """Return a call that never closes, without the parts on later lines."""
        arguments = [word for word in self.arguments if word.place.line == self.name.place.line]
        strings = [(argument, word) for argument, word in self.strings if word.place.line == self.name.place.line]
        return Call(self.name, tuple(arguments), tuple(strings), self.is_nested)


@dataclass(frozen=True, slots=True)
class _Page:
    """A Markdown text, divided into lines of prose and code blocks; each is a pair of begin and end positions."""

    text: str
    begins: list[int]
    """The position at which each line begins."""
    prose: list[tuple[int, int]]
    blocks: list[tuple[int, int]]
    """The code blocks that may contain tool calls."""
    programs: list[tuple[int, int]]
    """The other code blocks."""

    @classmethod
    def of(cls, text: str) -> "_Page":
        page = cls(text, [0, *(found.end() for found in re.finditer("\n", text))], [], [], [])
        opened: re.Match[str] | None = None
        for begin, after in zip(page.begins, [*page.begins[1:], len(text) + 1], strict=True):
            fence = _FENCE.match(text, begin, after - 1)
            if fence is None and opened is None:
                page.prose.append((begin, after - 1))
            elif opened is None:
                opened = fence
            elif fence is not None:
                page.add_block(opened, begin)
                opened = None
        if opened is not None:
            page.add_block(opened, len(text))
        return page

    def add_block(self, fence: re.Match[str], end: int) -> None:
        if fence[1].lower() in _PLAIN:
            self.blocks.append((fence.end(), end))
        else:
            self.programs.append((fence.end(), end))

    def place(self, at: int) -> Place:
        line = bisect_right(self.begins, at)
        return Place(line, at - self.begins[line - 1] + 1)

    def word(self, begin: int, end: int) -> Word:
        return Word(self.text[begin:end], self.place(begin))

    def calls(self, begin: int, end: int) -> Iterator[Call]:
        """Yield the calls of a region in one pass, in the order of their closing parentheses."""
        brackets: list[_Open | None] = []
        calls: list[_Open] = []
        named: _Open | None = None
        for token in _TOKEN.finditer(self.text, begin, end):
            match token.lastgroup:
                case "call":
                    named = _Open(self.word(*token.span()), bool(calls), [], [])
                case "open":
                    brackets.append(named)
                    if named is not None:
                        calls.append(named)
                    named = None
                case "close" if brackets:
                    if brackets.pop() is not None:
                        yield calls.pop().closed()
                case "argument" if brackets and brackets[-1] is not None:
                    brackets[-1].arguments.append(self.word(*token.span()))
                case "string" if calls:
                    calls[-1].add(self.word(token.start() + 1, token.end() - 1))
                case _:
                    # Unmatched closing brackets, and texts and names outside of calls, are ignored.
                    pass
        yield from (call.cut() for call in calls)
