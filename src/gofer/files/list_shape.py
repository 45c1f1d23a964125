"""The items of a list that are alike, and the few of them that show every key there is.

Items are looked at column by column, so that the work is done by the interpreter's own loops: all values of one key at
once, and a column without objects and lists not at all.
"""

from collections.abc import Sequence
from itertools import chain
from typing import cast

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
