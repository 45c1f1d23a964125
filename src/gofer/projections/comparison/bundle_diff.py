"""The difference of two bundles: the names of the parts that differ, and short values."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.values.canonical_json import as_list, as_object, as_text, encode_text

MOST_PARTS = 50
"""The most differing parts that are named."""
_SHORT = 60
"""The most characters of a value that is shown."""


def bundle_diff(first: Mapping[str, object], second: Mapping[str, object]) -> Sequence[str]:
    """Return a sentence part for each difference, such as `workflow.limits.llm_calls: 20, then 30`."""
    parts = list(_differences("", _named_tools(first), _named_tools(second)))
    if len(parts) <= MOST_PARTS:
        return parts
    return [*parts[:MOST_PARTS], f"{len(parts) - MOST_PARTS} more parts"]


def _named_tools(bundle: Mapping[str, object]) -> Mapping[str, object]:
    """Return a bundle with its tool schemas by the names of the tools."""
    schemas = map(as_object, as_list(bundle.get("tools")))
    return {**bundle, "tools": {_tool(schema): encode_text(schema) for schema in schemas}}


def _tool(schema: Mapping[str, object]) -> str:
    return as_text(as_object(schema.get("function")).get("name"))


def _differences(path: str, first: object, second: object) -> Iterator[str]:
    if first == second:
        return
    mine = as_object(first)
    other = as_object(second)
    if not mine and not other:
        yield _difference(path, first, second)
        return
    for name in sorted(mine.keys() | other.keys()):
        yield from _differences(f"{path}.{name}".lstrip("."), mine.get(name), other.get(name))


def _difference(path: str, first: object, second: object) -> str:
    if first is None:
        return f"{path}: added"
    if second is None:
        return f"{path}: removed"
    before = encode_text(first)
    after = encode_text(second)
    if len(before) > _SHORT or len(after) > _SHORT:
        return f"{path}: changed"
    return f"{path}: {before}, then {after}"
