"""Thoughts that a model wrote into the text of its answer, told apart from what it says to people."""

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
# In the middle of a sentence, between spaces, an end without a beginning is what the sentence is about.
_LONE_END = re.compile(rf"(?:^(?:{_CLOSE})|(?:{_CLOSE})(?=[ \t]*$|\w))", re.MULTILINE | re.IGNORECASE)
_READ_LIMIT = 1_000_000
"""Characters of an answer's text that are looked at."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text in two parts."""

    text: str
    """What is for people."""
    thoughts: str = ""
    """The thoughts as they came, with their tags."""


def apart(text: str) -> Spoken:
    """Return the thoughts of a text and the rest. A tag in code is no tag: it is about tags."""
    rest = text[:_READ_LIMIT]
    if not _END.search(rest) and not _LEADING.match(rest):
        return Spoken(text)
    thoughts: list[str] = []
    while begin := _LEADING.match(rest):
        end = _END.search(rest, begin.end())
        if end is None:
            return Spoken("", "".join([*thoughts, rest]))
        thoughts.append(rest[: end.end()])
        rest = rest[end.end() :]
    if not thoughts and (end := _lone_end(rest)):
        # Templates of some models begin the thoughts in the prompt, so that only their end is in the answer.
        thoughts.append(rest[: end.end()])
        rest = rest[end.end() :]
    rest = _without_later(rest, thoughts)
    if not thoughts:
        return Spoken(text)
    return Spoken(rest.lstrip("\n"), "".join(thoughts))


def _lone_end(text: str) -> re.Match[str] | None:
    code = code_spans(text)
    end = next((found for found in _LONE_END.finditer(text) if found.start() not in code), None)
    if end is None or re.search(_OPEN, text[: end.start()]):
        return None
    return end


def _without_later(text: str, thoughts: list[str]) -> str:
    """Return the text without blocks that begin a line further down and are closed; each is added to the thoughts."""
    if not _LINE_OPEN.search(text):
        return text
    code = code_spans(text)
    kept: list[str] = []
    place = 0
    for begin in _LINE_OPEN.finditer(text):
        if begin.start() < place or begin.start() in code:
            continue
        end = _END.search(text, begin.end())
        # Without an end it would take the rest of the answer.
        if end is None:
            break
        kept.append(text[place : begin.start()])
        thoughts.append(text[begin.start() : end.end()])
        place = end.end()
    return "".join([*kept, text[place:]])
