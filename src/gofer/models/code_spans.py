"""The code in a Markdown text: fences and inline code."""

import re
from bisect import bisect_right
from dataclasses import dataclass

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})(?s:.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_FENCED = re.compile(r"\A\s*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<code>(?s:.*?))\n?(?P=fence)\s*\Z")


@dataclass(frozen=True, slots=True)
class CodeSpans:
    """The positions of the fences and the inline code of one text, in order."""

    spans: tuple[tuple[int, int], ...]

    def __contains__(self, place: int) -> bool:
        return self.begin(place) is not None

    def begin(self, place: int) -> int | None:
        """Return where the code around a place begins; None outside of code."""
        at = bisect_right(self.spans, place, key=lambda span: span[0]) - 1
        if at < 0 or place >= self.spans[at][1]:
            return None
        return self.spans[at][0]


def code_spans(text: str) -> CodeSpans:
    """Return the positions of the code in a Markdown text."""
    return CodeSpans(tuple(found.span() for found in _CODE.finditer(text)))


def unfenced(text: str) -> str:
    """Return the content of a text that consists of one fence; any other text unchanged."""
    found = _FENCED.match(text)
    if found is None:
        return text
    return found["code"]
