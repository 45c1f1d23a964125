"""The codec of entries: converts each entry to JSON and back to an equal value.

Fields with their default value are left out. A reader refuses an unknown kind or field: a journal of a newer Gofer is
reported, and never read in part.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, Union, cast

from gofer.journal.entries import KINDS, Entry, Item
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt, OtherVersion

_NAMES = {cls: kind for kind, cls in KINDS.items()}


def to_json(entry: Entry) -> dict[str, object]:
    """Return the JSON object of an entry: its kind and the fields that differ from their defaults."""
    return {"kind": _NAMES[type(entry)], **_fields_json(entry)}


def from_json(value: object) -> Entry:
    """Return the entry of a JSON object.

    Raises OtherVersion for an unknown kind, field or literal, and Corrupt for a wrong type.
    """
    if not isinstance(value, dict):
        raise Corrupt("An entry of the journal is not an object.")
    data = dict(cast(dict[str, object], value))
    kind = str(data.pop("kind", ""))
    if kind not in KINDS:
        raise OtherVersion(f"This journal has an entry of kind {kind!r}; read it with the Gofer that wrote it.")
    return cast(Entry, _read_object(KINDS[kind], data))


def item_bytes(item: Item) -> bytes:
    """Return the bytes of an entry for an inbox item."""
    return encode(to_json(item))


def item_from_bytes(raw: bytes) -> Item:
    """Return the entry of an inbox item. Raises Corrupt for an entry that only the owner of a run may write."""
    try:
        value: object = json.loads(raw)
    except ValueError as error:
        raise Corrupt("The inbox holds an item that is not JSON; ask its sender to send it again.") from error
    entry = from_json(value)
    if isinstance(entry, Item):
        return entry
    raise Corrupt(f"The inbox holds a {type(entry).__name__}, which only a run's owner may write.")


def _fields_json(value: object) -> dict[str, object]:
    return {
        name: _value_json(getattr(value, name))
        for name, default in _fields(type(value))
        if getattr(value, name) != default
    }


def _value_json(value: object) -> object:
    if isinstance(value, tuple):
        return [_value_json(item) for item in cast(tuple[object, ...], value)]
    if dataclasses.is_dataclass(value):
        return _fields_json(cast(object, value))
    return value


@cache
def _fields(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, field.default) for field in dataclasses.fields(cls))


@cache
def _readers(cls: type[Any]) -> Mapping[str, Callable[[object], object]]:
    return {name: _reader(hint) for name, hint in typing.get_type_hints(cls).items()}


def _read_object(cls: type[Any], data: object) -> object:
    if not isinstance(data, dict):
        raise Corrupt(f"The journal has no object where a {cls.__name__} is expected.")
    fields = cast(dict[str, object], data)
    readers = _readers(cls)
    if unknown := fields.keys() - readers.keys():
        raise OtherVersion(
            f"This journal has a field {min(unknown)!r} unknown here; read it with the Gofer that wrote it."
        )
    try:
        return cls(**{name: readers[name](value) for name, value in fields.items()})
    except TypeError as error:
        raise Corrupt(f"A {cls.__name__} of the journal is incomplete.") from error


def _reader(hint: Any) -> Callable[[object], object]:
    """Return a function that checks a JSON value and converts it to the annotated type of a field."""
    if hint is object:
        return lambda value: value
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _optional(_reader(next(kind for kind in arguments if kind is not type(None))))
    if origin is tuple:
        return _tuple(_reader(arguments[0]))
    if origin is Literal:
        return _one_of(frozenset(arguments))
    if dataclasses.is_dataclass(hint):
        return lambda value: _read_object(cast(type[Any], hint), value)
    return _scalar({float: (int, float), int: (int,), str: (str,), bool: (bool,)}.get(hint, (dict,)))


def _optional(read: Callable[[object], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else read(value)


def _tuple(read: Callable[[object], object]) -> Callable[[object], object]:
    def check(value: object) -> object:
        if not isinstance(value, list):
            raise Corrupt("The journal has no list where one is expected.")
        return tuple(read(item) for item in cast(list[object], value))

    return check


def _one_of(allowed: frozenset[object]) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in allowed:
            known = sorted(map(str, allowed))
            raise OtherVersion(
                f"The journal says {value!r} where only {known} are known; read it with the Gofer that wrote it."
            )
        return value

    return check


def _scalar(kinds: tuple[type, ...]) -> Callable[[object], object]:
    def check(value: object) -> object:
        if not isinstance(value, kinds):
            raise Corrupt(f"The journal has a {type(value).__name__} where {kinds[0].__name__} is expected.")
        return value

    return check
