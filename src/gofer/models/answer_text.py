"""The text of an answer, separated into words for people and thoughts.

Tags inside Markdown code are quotations and do not count.
"""

import re
from dataclasses import dataclass

from gofer.models.code_spans import code_spans

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
