"""Paths of the world in eval files: patterns with `*` and `**`, and the values of a difference that they name.

A path is a JSON pointer, as `gofer run --world` prints it. `*` stands for one part of a path, `**` for any number of
parts. The name of a system, with or without `/`, is the path of all its values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gofer.values.canonical_json import as_list, as_object

_ANY = "**"
_NAMES = ("ts", "id", "key", "number")
"""The fields that name the items of a list, as in a difference."""

Parts = Sequence[str]


def parts_of(pattern: str) -> Parts:
    """Return the parts of a path or pattern."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pattern.strip("/").split("/") if part]


def matching(pattern: str, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield each value that a pattern names, with its path: a value of a difference, or a part of one.

    A difference holds an added channel as one value, so a pattern for its messages leads into that value.
    """
    wanted = parts_of(pattern)
    for path, value in values.items():
        ahead = [(path, value, _states_after(wanted, parts_of(path)))]
        while ahead:
            at, inner, states = ahead.pop()
            if len(wanted) in states:
                yield at, inner
            if states - {len(wanted)}:
                parts = reversed(list(_parts(inner)))
                ahead += [(f"{at}/{_written(name)}", part, _step(wanted, states, name)) for name, part in parts]


def outermost(paths: Iterable[str]) -> Sequence[str]:
    """Return the paths that are not below an earlier one."""
    found: list[str] = []
    for path in paths:
        if not found or not path.startswith(f"{found[-1]}/"):
            found.append(path)
    return found


def touches(pattern: str, path: str) -> bool:
    """Return whether a change at `path` is one of a value that a pattern names, of a part of it, or around it."""
    wanted = parts_of(pattern)
    states = _begin(wanted)
    for part in parts_of(path):
        if len(wanted) in states:
            return True
        states = _step(wanted, states, part)
    return bool(states)


def _states_after(wanted: Parts, parts: Parts) -> frozenset[int]:
    """Return how many parts of a pattern each way to match has used after these parts; empty if there is no way."""
    states = _begin(wanted)
    for part in parts:
        states = _step(wanted, states, part)
    return states


def _begin(wanted: Parts) -> frozenset[int]:
    return _past_any(wanted, {0})


def _step(wanted: Parts, states: frozenset[int], part: str) -> frozenset[int]:
    after: set[int] = set()
    for state in states:
        if state == len(wanted):
            continue
        if wanted[state] == _ANY:
            after.add(state)
        elif wanted[state] in ("*", part):
            after.add(state + 1)
    return _past_any(wanted, after)


def _past_any(wanted: Parts, states: set[int]) -> frozenset[int]:
    """Return the states and those behind each `**`, which may stand for nothing."""
    found = set(states)
    for state in states:
        at = state
        while at < len(wanted) and wanted[at] == _ANY:
            at += 1
            found.add(at)
    return frozenset(found)


def _parts(value: object) -> Iterator[tuple[str, object]]:
    """Yield the parts of a value by their names; an item of a list has the name that a difference gives it."""
    yield from as_object(value).items()
    items = as_list(value)
    name = _naming_field(items)
    for index, item in enumerate(items):
        yield str(as_object(item).get(name, index)), item


def _naming_field(items: Sequence[object]) -> str:
    for name in _NAMES:
        names = [as_object(item).get(name) for item in items]
        is_named = all(isinstance(one, str | int) and not isinstance(one, bool) for one in names)
        if is_named and len(set(map(str, names))) == len(items):
            return name
    return ""


def _written(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
