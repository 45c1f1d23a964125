"""The names of tools for texts without contents. A model may write anything as the name of a tool."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from gofer.projections.calls import Call
from gofer.values.canonical_json import as_object, as_text

UNKNOWN = "an unknown tool"
_RESULT = re.compile(r"result of (.+) (\([^()]*\))", re.DOTALL)


def known_tools(calls: Iterable[Call], schemas: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """Return the names that are no text of a model: those of the run's tool schemas, and of calls that were made."""
    listed = {as_text(as_object(schema.get("function")).get("name")) for schema in schemas}
    return frozenset(listed | {call.tool for call in calls if call.began_in})


def shown_tool(name: str, known: Set[str]) -> str:
    """Return the name of a known tool, and UNKNOWN for every other name."""
    if name in known:
        return name
    return UNKNOWN


def shown_part(name: str, known: Set[str]) -> str:
    """Return the name of a part of a request, without the name of an unknown tool."""
    result = _RESULT.fullmatch(name)
    if result is None:
        return name
    return f"result of {shown_tool(result[1], known)} {result[2]}"
