"""The text of an answer, separated into words for people, thoughts, and tool calls written as text.

Tags and calls inside Markdown code are quotations and do not count.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest

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
        at = bisect_right(self.spans, place, key=lambda span: span[0]) - 1
        return at >= 0 and place < self.spans[at][1]


def code_spans(text: str) -> CodeSpans:
    """Return the positions of the code in a Markdown text."""
    return CodeSpans(tuple(found.span() for found in _CODE.finditer(text)))


def unfenced(text: str) -> str:
    """Return the content of a text that consists of one fence; any other text unchanged."""
    found = _FENCED.match(text)
    if found is None:
        return text
    return found["code"]


_TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_OPEN = "|".join(re.escape(begin) for begin, _ in _TAGS)
_CLOSE = "|".join(re.escape(end) for _, end in _TAGS)
_LEADING = re.compile(rf"\A\s*(?:{_OPEN})", re.IGNORECASE)
_LINE_OPEN = re.compile(rf"^[ \t]*(?:{_OPEN})", re.MULTILINE | re.IGNORECASE)
_END = re.compile(_CLOSE, re.IGNORECASE)
# An end tag between spaces in the middle of a sentence is a mention of the tag, not the end of thoughts.
_LONE_END = re.compile(rf"(?:^(?:{_CLOSE})|(?:{_CLOSE})(?=[ \t]*$|\w))", re.MULTILINE | re.IGNORECASE)
_READ_LIMIT = 1_000_000
"""Characters of an answer's text that are searched."""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The text of an answer, separated from the model's thoughts."""

    text: str
    """The words for people."""
    thoughts: str = ""
    """The thoughts, with their tags."""


def split_thoughts(text: str) -> AnswerText:
    """Return the words for people and the thoughts of a text. A tag inside code is a quotation and does not count."""
    rest = text[:_READ_LIMIT]
    if not _END.search(rest) and not _LEADING.match(rest):
        return AnswerText(text)
    thoughts: list[str] = []
    while begin := _LEADING.match(rest):
        end = _END.search(rest, begin.end())
        if end is None:
            return AnswerText("", "".join([*thoughts, rest]))
        thoughts.append(rest[: end.end()])
        rest = rest[end.end() :]
    if not thoughts and (end := _lone_end(rest)):
        # Templates of some models begin the thoughts in the prompt, so that only their end is in the answer.
        thoughts.append(rest[: end.end()])
        rest = rest[end.end() :]
    rest = _without_later_thoughts(rest, thoughts)
    if not thoughts:
        return AnswerText(text)
    return AnswerText(rest.lstrip("\n"), "".join(thoughts))


def _lone_end(text: str) -> re.Match[str] | None:
    code = code_spans(text)
    end = next((found for found in _LONE_END.finditer(text) if found.start() not in code), None)
    if end is None or re.search(_OPEN, text[: end.start()]):
        return None
    return end


def _without_later_thoughts(text: str, thoughts: list[str]) -> str:
    """Return the text without closed blocks of thoughts that begin on a later line; add each block to `thoughts`."""
    if not _LINE_OPEN.search(text):
        return text
    code = code_spans(text)
    kept: list[str] = []
    place = 0
    for begin in _LINE_OPEN.finditer(text):
        if begin.start() < place or begin.start() in code:
            continue
        end = _END.search(text, begin.end())
        # A block without an end would hide the rest of the answer.
        if end is None:
            break
        kept.append(text[place : begin.start()])
        thoughts.append(text[begin.start() : end.end()])
        place = end.end()
    return "".join([*kept, text[place:]])


_MARKS = re.compile(
    r"<(?:\|)?tool_calls?(?:\|)?>\s*(?:[{\[]|<function=|<invoke |[\w.-]{1,64}\s*<arg_key>|\Z)"
    r"|<function=[\w.-]+>"
    r"|^[ \t]*\[TOOL_CALLS\]\s*[\[{\w]"
    r"|^[ \t]*<\|python_tag\|>"
    r"|<(?:function_calls|tool_use)>\s*<?(?:invoke |[{\[])"
    r"|^[ \t]*<invoke name="
    r"|<\|tool_calls?(?:_section)?_begin\|>"
    r"|<｜tool▁calls?▁begin｜>"
    r"|<\|channel\|>commentary to=functions\.",
    re.MULTILINE,
)
"""The marks that models and their templates write around a call."""
_NAME = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|<invoke name="|to=functions\.|\[TOOL_CALLS\]\s*)(?P<name>[\w.-]{1,64})"""
)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_SEARCHED = 1_000
"""Characters after a mark that are searched for the name of the tool."""


def written_call(text: str, offered: Collection[str]) -> str | None:
    """Return the tool of the first call in an answer's text; empty if its name is unclear, None without a call.

    A mark outside of code counts for any tool. JSON without marks counts only if it is the whole answer and names an
    `offered` tool.
    """
    text = text[:_READ_LIMIT]
    if (bare := _call_without_words(unfenced(text), offered)) is not None:
        return bare
    mark = _first_mark(text)
    if mark is None:
        return None
    return _name_after(text, mark)


def before_call(text: str, offered: Collection[str]) -> str:
    """Return the words before the first call written as text; the whole text if there is no call."""
    searched = text[:_READ_LIMIT]
    if _call_without_words(unfenced(searched), offered) is not None:
        return ""
    mark = _first_mark(searched)
    if mark is None:
        return text
    return text[: mark.start()].rstrip()


def _first_mark(text: str) -> re.Match[str] | None:
    """Return the first mark of a call outside of code."""
    code = code_spans(text)
    return next((found for found in _MARKS.finditer(text) if found.start() not in code), None)


def _call_without_words(text: str, offered: Collection[str]) -> str | None:
    """Return the offered tool of an answer that consists of JSON or one marked call only; None for any other answer."""
    text = text.strip()
    if mark := _MARKS.match(text):
        return next((name for name in [_name_after(text, mark)] if name in offered), None)
    if not text.startswith(("{", "[")) or not text.endswith(("}", "]")):
        return None
    try:
        value = decode(text.encode(errors="replace"))
    except BadRequest:
        return None
    called = as_list(as_object(value).get("tool_calls")) or as_list(value) or [value]
    names = [_tool_of_object(as_object(one)) for one in called]
    if not all(name in offered for name in names):
        return None
    return next(iter(names), None)


def _name_after(text: str, mark: re.Match[str]) -> str:
    """Return the name of the tool after a mark; empty if there is none."""
    names = (found["name"] for found in [_NAME.search(text, mark.start(), mark.start() + _SEARCHED)] if found)
    return next(names, "")


def _tool_of_object(value: Mapping[str, object]) -> str:
    """Return the name of the tool that a JSON object calls; empty if the object is no call."""
    inner = as_object(value.get("function")) or value
    if not any(key in inner for key in _ARGUMENT_KEYS):
        return ""
    return next((name for key in _NAME_KEYS if (name := as_text(inner.get(key)))), "")
