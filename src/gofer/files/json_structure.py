"""The structure of a large JSON value in a few thousand characters.

Items of a list are looked at column by column, so that the work is done by the interpreter's own loops: all values of
one key at once, and a column without objects and lists not at all.

Every key, all nesting and the length of every list are kept; strings are cut, and lists of items that are alike show
some of them and say how many there are. What is still too long is shown more and more briefly, and cut hard at the end.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from gofer.files.exact_json import quote, scalar
from gofer.files.text_cut import head

SCALAR = 0
"""The shape of everything that holds nothing."""

MAX_DEPTH = 100
"""Levels below an item that are told apart."""

_CONTAINERS = {dict, list}
_MOST_SHAPES = 2_000
_REMEMBERED = 1_000

Object = dict[str, object]
Path = tuple[str, ...]


class Shapes:
    """The shapes met so far, each with a number; equal shapes have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._children: list[tuple[tuple[str, int], ...]] = [()]
        self._known: dict[int, tuple[list[object], list[int]]] = {}
        self._paths: dict[int, frozenset[Path]] = {SCALAR: frozenset()}

    def of(self, items: list[object], depth: int = 0) -> list[int]:
        """Return the number of each item's shape."""
        known = self._known.get(id(items))
        if known is not None:
            return known[1]
        numbers = [SCALAR] * len(items)
        if depth < MAX_DEPTH and not _CONTAINERS.isdisjoint(map(type, items)):
            self._objects(items, numbers, depth + 1)
            self._lists(items, numbers, depth + 1)
        return numbers

    def examples(self, items: list[object], alike: int) -> list[int]:
        """Return which items to show: `alike` from the beginning, and the first to bring a key not shown yet."""
        numbers = self.of(items)
        chosen = set(range(min(alike, len(items))))
        seen = {path for at in chosen for path in self._paths_of(numbers[at])}
        first = dict(zip(reversed(numbers), range(len(numbers) - 1, -1, -1), strict=True))
        for number in sorted(first, key=first.__getitem__)[:_MOST_SHAPES]:
            if not (paths := self._paths_of(number)) <= seen:
                chosen.add(first[number])
                seen |= paths
        return sorted(chosen)

    def _objects(self, items: Sequence[object], numbers: list[int], depth: int) -> None:
        groups: dict[tuple[str, ...], list[int]] = {}
        objects = cast(Sequence[Object], items)  # Those of them that are.
        for at, item in enumerate(objects):
            if type(item) is dict:
                groups.setdefault(tuple(item), []).append(at)
        for keys, places in groups.items():
            if len(places) == len(objects):
                members = objects
            else:
                members = [objects[at] for at in places]
            inner: list[str] = []
            columns: list[list[int]] = []
            for key in keys:
                column = [member[key] for member in members]
                if not _CONTAINERS.isdisjoint(map(type, column)):
                    inner.append(key)
                    columns.append(self.of(column, depth))
            if not inner:
                alike = self._number(tuple((key, SCALAR) for key in sorted(keys)))
                for at in places:
                    numbers[at] = alike
                continue
            known: dict[tuple[int, ...], int] = {}
            for at, row in zip(places, zip(*columns, strict=True), strict=True):
                if row not in known:
                    deep = dict(zip(inner, row, strict=True))
                    known[row] = self._number(tuple((key, deep.get(key, SCALAR)) for key in sorted(keys)))
                numbers[at] = known[row]

    def _lists(self, items: Sequence[object], numbers: list[int], depth: int) -> None:
        places = [at for at, item in enumerate(items) if type(item) is list]
        lists = cast(Sequence[list[object]], items)
        members = [lists[at] for at in places]
        flat = list(chain.from_iterable(members))
        if _CONTAINERS.isdisjoint(map(type, flat)):
            empty = self._number(())
            plain = self._number((("[]", SCALAR),))
            for at, member in zip(places, members, strict=True):
                numbers[at] = plain if member else empty
            return
        shapes = self.of(flat, depth)
        begin = 0
        for at, member in zip(places, members, strict=True):
            own = shapes[begin : begin + len(member)]
            begin += len(member)
            if len(member) > _REMEMBERED:
                # A list that is shown later need not be looked through again; it is kept so that its id stays its own.
                self._known[id(member)] = (member, own)
            numbers[at] = self._number(tuple(("[]", number) for number in sorted(set(own))))

    def _number(self, children: tuple[tuple[str, int], ...]) -> int:
        number = self._numbers.setdefault(children, len(self._children))
        if number == len(self._children):
            self._children.append(children)
        return number

    def _paths_of(self, number: int) -> frozenset[Path]:
        if number not in self._paths:
            children = self._children[number]
            own = {(name,) for name, _ in children}
            own |= {(name, *path) for name, child in children for path in self._paths_of(child)}
            self._paths[number] = frozenset(own)
        return self._paths[number]


STRING = 100
"""Characters of a string that are shown at most."""


@dataclass(frozen=True, slots=True)
class Brevity:
    """How much of a value is shown."""

    string: int = STRING
    scalars: int = 10
    """Items of a list of plain values."""
    alike: int = 2
    """Items of a list of objects or lists, besides those that show a new key."""
    keys: int = sys.maxsize
    """Keys of one object."""
    depth: int = MAX_DEPTH

    @property
    def whole(self) -> bool:
        """Return whether no key is left out, unless it lies deeper than people nest."""
        return self.keys == sys.maxsize


LEVELS = (
    Brevity(),
    Brevity(60, 5, 1),
    Brevity(30, 3, 1),
    Brevity(12, 2, 1),
    Brevity(8, 1, 1),
    Brevity(8, 1, 1, 200, 24),
    Brevity(8, 1, 1, 100, 16),
    Brevity(8, 1, 1, 50, 12),
    Brevity(8, 1, 1, 30, 8),
    Brevity(8, 1, 1, 15, 6),
    Brevity(8, 1, 1, 8, 5),
)
"""From everything a preview may show to little; the first five keep every key."""


class TooLong(Exception):
    """The value takes more characters than allowed at this brevity."""


def outline(value: object, brevity: Brevity, shapes: Shapes, most: int) -> str:
    """Return the value in this brevity, as JSON on one line.

    Raises TooLong when that is more than `most` characters.
    """
    writer = _Writer(brevity, shapes, most)
    writer.write(value, 0)
    return "".join(writer.parts)


class _Writer:
    """What was written so far, and how much may follow."""

    def __init__(self, brevity: Brevity, shapes: Shapes, most: int) -> None:
        self._brevity = brevity
        self._shapes = shapes
        self._left = most
        self.parts: list[str] = []

    def write(self, value: object, depth: int) -> None:
        if isinstance(value, dict):
            self._object(cast(dict[str, object], value), depth)
        elif isinstance(value, list):
            self._list(cast(list[object], value), depth)
        else:
            self._say(quote(self._short(value)) if isinstance(value, str) else _digits(scalar(value)))

    def _say(self, part: str) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise TooLong
        self.parts.append(part)

    def _object(self, value: dict[str, object], depth: int) -> None:
        if value and depth >= self._brevity.depth:
            self._say(quote(f"… an object with {len(value):,} {'key' if len(value) == 1 else 'keys'}"))
            return
        self._say("{")
        for count, (key, child) in enumerate(value.items()):
            if count:
                self._say(",")
            if count >= self._brevity.keys:
                self._say(f'"…":{quote(f"{len(value) - count:,} more keys, {len(value):,} in all")}')
                break
            self._say(f"{quote(key)}:")
            self.write(child, depth + 1)
        self._say("}")

    def _list(self, value: list[object], depth: int) -> None:
        if value and depth >= self._brevity.depth:
            self._say(quote(f"… a list of {len(value):,}"))
            return
        shown = self._shown(value)
        self._say("[")
        for count, at in enumerate(shown):
            if count:
                self._say(",")
            self.write(value[at], depth + 1)
        if len(shown) < len(value):
            self._say(f",{quote(f'… {len(value) - len(shown):,} more, {len(value):,} in all')}")
        self._say("]")

    def _shown(self, value: list[object]) -> list[int]:
        plain = not any(isinstance(item, dict | list) for item in value)
        most = self._brevity.scalars if plain else self._brevity.alike
        # A sentence about one more is no shorter than the one.
        if len(value) <= most + 1:
            return list(range(len(value)))
        if plain:
            return list(range(most))
        return self._shapes.examples(value, most)

    def _short(self, text: str) -> str:
        limit = self._brevity.string
        if len(text) <= limit:
            return text
        return f"{head(text, limit - 1)}…"


def _digits(number: str) -> str:
    """Return a number whole, or a mark that says that it is longer than any string may be."""
    if len(number) <= 10 * STRING:
        return number
    return quote(f"… a number of {len(number):,} characters")
