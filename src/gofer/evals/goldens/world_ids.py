"""The ids of a golden and the ids of the world in which it is played.

A recording names channels, people, messages, issues and pages by ids that another world does not have, and a play
creates objects with ids of its own. Two values for the same thing, the recorded one and the one of the play, are
compared place by place: two words at the same place that differ and that are ids by their form are a pair.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import cast

_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_AROUND = "_.-"
"""Punctuation at the beginning and the end of a word, which is no part of an id."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d)?")
_POST = re.compile(r"\d{9,}\.\d{6}")
"""The time that names a message of a chat; a link to the message has it without the point, behind a `p`."""
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}")
"""A host of links, such as that of the workspace."""
_SHORTEST = 4
_SHORTEST_NUMBER = 9
"""A shorter number may be a count."""


class WorldIds:
    """The pairs of ids: each recorded id has one id of the world, and each id of the world one recorded id."""

    def __init__(self, pairs: Mapping[str, str] | None = None) -> None:
        self._world: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        for recorded, world in (pairs or {}).items():
            self.pair(recorded=recorded, world=world)

    @property
    def pairs(self) -> Mapping[str, str]:
        """The id of the world for each recorded id."""
        return self._world

    def pair(self, *, recorded: str, world: str) -> None:
        """Add a pair, unless one of both ids has another partner already."""
        if recorded in self._world or world in self._recorded:
            return
        self._world[recorded] = world
        self._recorded[world] = recorded
        if is_post(recorded) and is_post(world):
            self.pair(recorded=_in_link(recorded), world=_in_link(world))

    def learn(self, *, recorded: object, world: object) -> None:
        """Add the pairs of two JSON values about the same thing."""
        for before, now in _texts(recorded, world):
            for old, new in _words(before, now):
                self.pair(recorded=old, world=new)

    def to_world(self, value: object) -> object:
        """Return a JSON value in which each recorded id is the one of the world."""
        return _replaced(value, self._world)

    def to_recorded(self, value: object) -> object:
        """Return a JSON value in which each id of the world is the recorded one."""
        return _replaced(value, self._recorded)


def words_in(text: str) -> Set[str]:
    """Return the words of a text that could be ids."""
    return {word.strip(_AROUND) for word in _WORD.findall(text)}


def is_id(word: str) -> bool:
    """Return whether a word is an id by its form: a host, or a word with a digit that is no count and no date."""
    if _HOST.fullmatch(word):
        return True
    if not any(sign.isdigit() for sign in word) or _DATE.fullmatch(word):
        return False
    if word.replace(".", "").isdigit():
        return len(word) >= _SHORTEST_NUMBER
    return len(word) >= _SHORTEST


def is_post(name: str) -> bool:
    """Return whether a name is the time that names a message of a chat."""
    return _POST.fullmatch(name) is not None


def _in_link(ts: str) -> str:
    return f"p{ts.replace('.', '')}"


def _texts(recorded: object, world: object) -> Iterator[tuple[str, str]]:
    """Yield the texts at the same places of two JSON values."""
    if isinstance(recorded, str) and isinstance(world, str):
        yield recorded, world
    elif isinstance(recorded, Mapping) and isinstance(world, Mapping):
        before = cast(Mapping[str, object], recorded)
        now = cast(Mapping[str, object], world)
        for key in before.keys() & now.keys():
            yield from _texts(before[key], now[key])
    elif isinstance(recorded, list | tuple) and isinstance(world, list | tuple):
        pairs = zip(cast(Sequence[object], recorded), cast(Sequence[object], world), strict=False)
        for one, other in pairs:
            yield from _texts(one, other)


def _words(recorded: str, world: str) -> Iterator[tuple[str, str]]:
    """Yield the ids that differ in two texts; texts that differ otherwise have none, because no places correspond."""
    if recorded == world or _WORD.sub("", recorded) != _WORD.sub("", world):
        return
    pairs = zip(_WORD.findall(recorded), _WORD.findall(world), strict=True)
    different = [(old.strip(_AROUND), new.strip(_AROUND)) for old, new in pairs if old != new]
    if all(is_id(old) and is_id(new) for old, new in different):
        yield from different


def _replaced(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _WORD.sub(lambda found: _renamed(found[0], names), value)
    if isinstance(value, Mapping):
        return {key: _replaced(part, names) for key, part in cast(Mapping[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [_replaced(part, names) for part in cast(Sequence[object], value)]
    return value


def _renamed(word: str, names: Mapping[str, str]) -> str:
    name = word.strip(_AROUND)
    if name not in names:
        return word
    before, _, after = word.partition(name)
    return f"{before}{names[name]}{after}"
