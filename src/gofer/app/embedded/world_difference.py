"""What is different between two states of a world? Plain JSON in, plain JSON out, and never too much of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from gofer.values.canonical_json import as_list, as_object

MOST = 200
"""Differences that are told at most."""
LONGEST = 4_000
"""Characters of a value at most; a longer one is told as the beginning of its text."""
_NAMES = ("ts", "id", "key", "number")
"""What tells the items of a list apart, where each has one."""
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    kind: Literal["added", "removed", "changed"]
    before: object = None
    after: object = None


def difference(before: object, after: object) -> dict[str, object]:
    """What was added, removed and changed, each by its path, and how many more differences are not told.

    A path is a JSON pointer; in a list of things with ids it holds the id instead of the place.
    """
    told: dict[str, dict[str, object]] = {"added": {}, "removed": {}, "changed": {}}
    more = 0
    for number, change in enumerate(_changes("", _plain(before), _plain(after))):
        if number >= MOST:
            more += 1
            continue
        match change.kind:
            case "added":
                told["added"][change.path] = _cut(change.after)
            case "removed":
                told["removed"][change.path] = _cut(change.before)
            case "changed":
                told["changed"][change.path] = {"before": _cut(change.before), "after": _cut(change.after)}
    return {**told, "more": more}


def _plain(state: object) -> object:
    """The state as it would be read from a file: lists for tuples, text for keys."""
    return json.loads(json.dumps(state))


def _changes(path: str, before: object, after: object) -> Iterator[_Change]:
    kinds = {type(before), type(after)}
    if kinds == {dict}:
        yield from _in_objects(path, as_object(before), as_object(after))
    elif kinds == {list}:
        yield from _in_lists(path, as_list(before), as_list(after))
    elif before is _ABSENT:
        yield _Change(path, "added", after=after)
    elif after is _ABSENT:
        yield _Change(path, "removed", before=before)
    elif len(kinds) > 1 or before != after:
        yield _Change(path, "changed", before, after)


def _in_objects(path: str, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[_Change]:
    for name in dict.fromkeys((*before, *after)):
        part = name.replace("~", "~0").replace("/", "~1")
        yield from _changes(f"{path}/{part}", before.get(name, _ABSENT), after.get(name, _ABSENT))


def _in_lists(path: str, before: Sequence[object], after: Sequence[object]) -> Iterator[_Change]:
    named = next((pair for name in _NAMES if (pair := _by_name(name, before, after)) is not None), None)
    if named is not None:
        yield from _in_objects(path, *named)
        return
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for at in range(max(len(old), len(new))):
        one = old[at] if at < len(old) else _ABSENT
        other = new[at] if at < len(new) else _ABSENT
        yield from _changes(f"{path}/{start + at}", one, other)


def _by_name(
    name: str, before: Sequence[object], after: Sequence[object]
) -> tuple[Mapping[str, object], Mapping[str, object]] | None:
    """Both lists by what tells their items apart; None where this does not."""
    found: list[Mapping[str, object]] = []
    for items in (before, after):
        names = [as_object(item).get(name) for item in items]
        words = [str(word) for word in names if isinstance(word, str | int) and not isinstance(word, bool)]
        if len(words) != len(items) or len(set(words)) != len(items):
            return None
        found.append(dict(zip(words, items, strict=True)))
    return cast(tuple[Mapping[str, object], Mapping[str, object]], tuple(found))


def _alike(before: Sequence[object], after: Sequence[object]) -> int:
    """How many items are the same from the beginning on."""
    # As JSON: for Python, False equals 0, also within lists and objects.
    both = zip(map(_as_json, before), map(_as_json, after), strict=False)
    return next((at for at, (one, other) in enumerate(both) if one != other), min(len(before), len(after)))


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else f"{text[:LONGEST]}…"
