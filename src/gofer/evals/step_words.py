"""The calls of one answer in words: whole, or without any contents.

A golden is redacted and reviewed, so a report may show its calls whole. The calls of a run from a store hold words of
people, and a model may write anything into names. So a report shows only names that the prompt declares.
"""

from collections.abc import Mapping, Sequence

from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.messages import ToolAsk, arguments, resolved_call

_SHORT = 120
"""The most characters of one call."""
_MOST_CALLS = 10
"""The most calls of one answer that are shown."""

Declared = Mapping[str, frozenset[str]]
"""The argument names of each tool, by its name."""


def declared(tools: Sequence[Mapping[str, object]]) -> Declared:
    """Return the names of the arguments of each tool, from the schemas of a prompt."""
    functions = [as_object(schema.get("function")) for schema in tools]
    return {as_text(function.get("name")): _names(function) for function in functions}


def whole_calls(asks: Sequence[ToolAsk]) -> Sequence[str]:
    """Return the calls with their arguments, sorted, because calls of one answer are made together."""
    return sorted(_whole(resolved_call(ask)) for ask in asks)


def named_calls(asks: Sequence[ToolAsk], tools: Declared) -> Sequence[str]:
    """Return the calls with the names of their arguments, sorted; names that `tools` lacks are left out."""
    return sorted(_named(resolved_call(ask), tools) for ask in asks)


def in_words(calls: Sequence[str]) -> str:
    """Return calls in words; an answer without calls is an answer in words."""
    if not calls:
        return "an answer in words"
    shown = [call[:_SHORT] for call in calls[:_MOST_CALLS]]
    if len(calls) > _MOST_CALLS:
        shown.append(f"{len(calls) - _MOST_CALLS:,} more")
    return ", ".join(shown)


def _names(function: Mapping[str, object]) -> frozenset[str]:
    return frozenset(as_object(as_object(function.get("parameters")).get("properties")))


def _whole(ask: ToolAsk) -> str:
    try:
        return f"{ask.tool} {encode_text(arguments(ask.arguments))}"
    except ValueError:
        return f"{ask.tool} {ask.arguments}"


def _named(ask: ToolAsk, tools: Declared) -> str:
    if ask.tool not in tools:
        return "a tool that the prompt does not list"
    try:
        given = arguments(ask.arguments)
    except ValueError:
        return f"{ask.tool} (unreadable arguments)"
    return f"{ask.tool} ({', '.join(sorted(tools[ask.tool] & given.keys()))})"
