"""Code within Markdown: what stands in it is quoted, and means nothing by itself."""

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
    """Where the fences and the inline code of one text stand, in order."""

    spans: tuple[tuple[int, int], ...]

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self.spans, place, key=lambda span: span[0]) - 1
        return at >= 0 and place < self.spans[at][1]


def code_spans(text: str) -> CodeSpans:
    """Return the code of a text."""
    return CodeSpans(tuple(found.span() for found in _CODE.finditer(text)))


def unfenced(text: str) -> str:
    """Return the content of a text that is one fence, else the text as it is."""
    found = _FENCED.match(text)
    if found is None:
        return text
    return found["code"]
