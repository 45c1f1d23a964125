"""The structure of a large JSON value in a few thousand characters.

The outline keeps every key, all nesting and the length of every list. It cuts strings, and shows some of the similar
items of a list with their number. If the outline is still too long, it becomes briefer step by step.

For speed, the items of a list are examined column by column: all values of one key at once. Columns without objects and
lists are skipped.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from gofer.files.exact_json import quote, scalar
from gofer.files.text_cut import head

SCALAR = 0
"""The shape of every value that is neither an object nor a list."""

MAX_DEPTH = 100
"""The levels below an item that its shape distinguishes."""

_CONTAINERS = {dict, list}
_MOST_SHAPES = 2_000
_LONG_LIST = 1_000

Object = dict[str, object]
Path = tuple[str, ...]


class Shapes:
    """The shapes found so far, each with a number. Equal shapes have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._children: list[tuple[tuple[str, int], ...]] = [()]
        self._known: dict[int, tuple[list[object], list[int]]] = {}
        self._paths: dict[int, frozenset[Path]] = {SCALAR: frozenset()}

    def of(self, items: list[object], depth: int = 0) -> list[int]:
        """Return the shape number of each item."""
        known = self._known.get(id(items))
        if known is not None:
            return known[1]
        numbers = [SCALAR] * len(items)
        if depth < MAX_DEPTH and not _CONTAINERS.isdisjoint(map(type, items)):
            self._objects(items, numbers, depth + 1)
            self._lists(items, numbers, depth + 1)
        return numbers

    def examples(self, items: list[object], alike: int) -> list[int]:
        """Return the indexes to show: the first `alike` items, and each item that adds a key not shown before."""
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
        objects = cast(Sequence[Object], items)  # The loop below selects the objects.
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
            if len(member) > _LONG_LIST:
                # Remember the shapes for a later display. Keep the list too, so that its id is not reused.
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
"""The most characters of a string that are shown."""


@dataclass(frozen=True, slots=True)
class Brevity:
    """The limits of an outline at one level of detail."""

    string: int = STRING
    scalars: int = 10
    """The items shown of a list of plain values."""
    alike: int = 2
    """The items shown of a list of objects or lists, besides items that add a key."""
    keys: int = sys.maxsize
    """The keys shown of one object."""
    depth: int = MAX_DEPTH

    @property
    def whole(self) -> bool:
        """Whether the outline has every key down to `depth`."""
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
"""The levels of detail, from most to least. The first five keep every key."""


class TooLong(Exception):
    """An outline that exceeds its limit of characters."""


def outline(value: object, brevity: Brevity, shapes: Shapes, most: int) -> str:
    """Return the outline of a value at a level of detail, as JSON on one line.

    Raises TooLong if the outline has more than `most` characters.
    """
    writer = _Writer(brevity, shapes, most)
    writer.write(value, 0)
    return "".join(writer.parts)


class _Writer:
    """The parts of an outline while it is written, and the characters left."""

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
            self._append(quote(self._shortened(value)) if isinstance(value, str) else _digits(scalar(value)))

    def _append(self, part: str) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise TooLong
        self.parts.append(part)

    def _object(self, value: dict[str, object], depth: int) -> None:
        if value and depth >= self._brevity.depth:
            self._append(quote(f"… an object with {len(value):,} {'key' if len(value) == 1 else 'keys'}"))
            return
        self._append("{")
        for count, (key, child) in enumerate(value.items()):
            if count:
                self._append(",")
            if count >= self._brevity.keys:
                self._append(f'"…":{quote(f"{len(value) - count:,} more keys, {len(value):,} in all")}')
                break
            self._append(f"{quote(key)}:")
            self.write(child, depth + 1)
        self._append("}")

    def _list(self, value: list[object], depth: int) -> None:
        if value and depth >= self._brevity.depth:
            self._append(quote(f"… a list of {len(value):,}"))
            return
        indexes = self._indexes_to_show(value)
        self._append("[")
        for count, at in enumerate(indexes):
            if count:
                self._append(",")
            self.write(value[at], depth + 1)
        if len(indexes) < len(value):
            self._append(f",{quote(f'… {len(value) - len(indexes):,} more, {len(value):,} in all')}")
        self._append("]")

    def _indexes_to_show(self, value: list[object]) -> list[int]:
        plain = not any(isinstance(item, dict | list) for item in value)
        most = self._brevity.scalars if plain else self._brevity.alike
        # A note about one more item is no shorter than the item.
        if len(value) <= most + 1:
            return list(range(len(value)))
        if plain:
            return list(range(most))
        return self._shapes.examples(value, most)

    def _shortened(self, text: str) -> str:
        limit = self._brevity.string
        if len(text) <= limit:
            return text
        return f"{head(text, limit - 1)}…"


def _digits(number: str) -> str:
    """Return a number with all digits, or a note for a number that is too long."""
    if len(number) <= 10 * STRING:
        return number
    return quote(f"… a number of {len(number):,} characters")
