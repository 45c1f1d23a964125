"""Tool calls that a model wrote into the text of its answer, where nothing carries them out."""

import re
from collections.abc import Collection, Mapping

from gofer.models.code_spans import code_spans, unfenced
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest

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
"""What models and their templates write around a call."""
_NAME = re.compile(
    r"""(?:"name"\s*:\s*"|<function=|<invoke name="|to=functions\.|\[TOOL_CALLS\]\s*)(?P<name>[\w.-]{1,64})"""
)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_READ_LIMIT = 1_000_000
"""Characters of an answer that are looked at."""
_SEARCHED = 1_000
"""Characters after a mark in which the name of the tool is looked for."""


def written_call(text: str, offered: Collection[str]) -> str | None:
    """Return the tool of the first call in an answer's text; empty where its name is unclear, None without a call.

    Marks of a call count for any tool, outside of code. JSON without marks counts when it is the whole answer and names
    an `offered` tool.
    """
    text = text[:_READ_LIMIT]
    if (bare := _bare(unfenced(text), offered)) is not None:
        return bare
    mark = _first_mark(text)
    if mark is None:
        return None
    return _named(text, mark)


def before_call(text: str, offered: Collection[str]) -> str:
    """Return the words before the first call that an answer holds as text; the whole text where it holds none."""
    searched = text[:_READ_LIMIT]
    if _bare(unfenced(searched), offered) is not None:
        return ""
    mark = _first_mark(searched)
    if mark is None:
        return text
    return text[: mark.start()].rstrip()


def _first_mark(text: str) -> re.Match[str] | None:
    """Return the first mark of a call outside of code."""
    code = code_spans(text)
    return next((found for found in _MARKS.finditer(text) if found.start() not in code), None)


def _bare(text: str, offered: Collection[str]) -> str | None:
    """Return the offered tool that an answer of nothing but JSON, or of nothing but one marked call, names."""
    text = text.strip()
    if mark := _MARKS.match(text):
        return next((name for name in [_named(text, mark)] if name in offered), None)
    if not text.startswith(("{", "[")) or not text.endswith(("}", "]")):
        return None
    try:
        value = decode(text.encode(errors="replace"))
    except BadRequest:
        return None
    called = as_list(as_object(value).get("tool_calls")) or as_list(value) or [value]
    names = [_called(as_object(one)) for one in called]
    if not all(name in offered for name in names):
        return None
    return next(iter(names), None)


def _named(text: str, mark: re.Match[str]) -> str:
    """Return the tool that stands after a mark; empty where none does."""
    names = (found["name"] for found in [_NAME.search(text, mark.start(), mark.start() + _SEARCHED)] if found)
    return next(names, "")


def _called(value: Mapping[str, object]) -> str:
    """Return the tool that a JSON object calls; empty when it is no call."""
    inner = as_object(value.get("function")) or value
    if not any(key in inner for key in _ARGUMENT_KEYS):
        return ""
    return next((name for key in _NAME_KEYS if (name := as_text(inner.get(key)))), "")
