"""The bounds that a workflow file sets for the arguments of a tool: one value, several values, or no value at all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pydantic import BaseModel

from gofer.values.canonical_json import as_list, as_object, encode_text
from gofer.workflows.grants import NOT_GIVEN, Bound, Bounds

_DEFAULT = "default"


def bounded_parameters(parameters: Mapping[str, object], bounds: Bounds) -> Mapping[str, object]:
    """Return the JSON Schema of a tool's arguments within the bounds, as a model reads it."""
    if not bounds:
        return parameters
    described = as_object(parameters.get("properties"))
    kept = [name for name in described if bounds.get(name) != NOT_GIVEN]
    required = {name for name in as_list(parameters.get("required")) if name in kept}
    required |= {name for name in kept if name in bounds and _is_fixed(bounds[name])}
    properties = {name: _within(as_object(described[name]), bounds.get(name)) for name in kept}
    return {**parameters, "properties": properties, "required": [name for name in kept if name in required]}


def beyond_bounds(arguments: BaseModel, bounds: Bounds) -> str:
    """Return what is wrong with the arguments of a call, in one clause for each; empty for arguments within bounds."""
    return "; ".join(_clauses(arguments, bounds))


def _clauses(arguments: BaseModel, bounds: Bounds) -> Iterator[str]:
    values = arguments.model_dump(mode="json")
    given = arguments.model_dump(mode="json", exclude_defaults=True)
    for name, bound in bounds.items():
        if bound == NOT_GIVEN:
            if name in given:
                yield f"`{name}` must be left out"
        elif (name in given or _is_fixed(bound)) and not _holds(values.get(name), bound):
            yield f"`{name}` must be {' or '.join(map(encode_text, _allowed(bound)))}"


def _within(described: Mapping[str, object], bound: Bound | None) -> Mapping[str, object]:
    """Return the schema of one argument with the values that it may have; those of a list are the ones of its items."""
    if bound is None:
        return described
    allowed = list(_allowed(bound))
    if described.get("type") == "array":
        return {**described, "items": {**as_object(described.get("items")), "enum": allowed}}
    kept = {key: value for key, value in described.items() if key != _DEFAULT or value in allowed}
    return {**kept, "enum": allowed}


def _holds(value: object, bound: Bound) -> bool:
    if isinstance(value, list):
        return all(item in _allowed(bound) for item in cast(list[object], value))
    return value in _allowed(bound)


def _allowed(bound: Bound) -> Sequence[object]:
    if isinstance(bound, tuple):
        return bound
    return (bound,)


def _is_fixed(bound: Bound) -> bool:
    """Return whether an argument has one value, which a call must give, so that no default takes its place."""
    return not isinstance(bound, tuple) and bound != NOT_GIVEN
