"""The workflows that were published last: their small part, the pointer to them, and who keeps the last good ones.

This lies on the way of ingress: no YAML, no pydantic. The files themselves are for `workflows.publication`.
"""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar, cast

from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from gofer.values.outside import Clock

FORMAT = 1
"""The form of what is published; one of a newer Gofer is not read as less."""
FOLDER = "bundles/"
POINTER = "bundles/current.json"
"""What is live: `{"name": …, "at": …}`."""
LOOK_SECONDS = 30.0
"""How long a process goes on with what it has before it looks at the pointer again."""
PATIENCE = 1.5
"""Seconds that each of a look's two requests may take where there is something to go on with."""

_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}", re.ASCII)
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """An object of a bundle store."""

    body: bytes
    tag: str
    """Changes whenever the object does."""


class BundleStore(Protocol):
    """Where published workflows stand: objects by their keys. Every call may raise TemporaryError."""

    async def read(self, key: str) -> Found | None:
        """Return the object, or None."""
        ...

    async def create(self, key: str, body: bytes) -> bool:
        """Write an object that is not there yet; False when it is, and nothing is written."""
        ...

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        """Write an object if what stands there has this tag, the empty one for nothing; False otherwise."""
        ...

    async def keys(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin so, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the front and the schedules need of published workflows, as plain JSON."""

    name: str
    """Of the bundle; empty for what came with the code."""
    routes: object
    hooks: object
    schedules: Sequence[tuple[str, object]]
    """Workflows and their compiled schedules."""

    def to_json(self) -> dict[str, object]:
        """Return it without its name."""
        return {"routes": self.routes, "hooks": self.hooks, "schedules": self.schedules}


@dataclass(frozen=True, slots=True)
class Current:
    """What is live, and since when."""

    name: str
    at: str
    """ISO 8601, UTC."""


def bundle_name(at: float, sha256: str) -> str:
    """Return the name of a bundle that was made at a time (unix seconds): names are in the order of their times."""
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}-{sha256[:12]}"


def is_name(text: str) -> bool:
    """Return whether a text has the form of a bundle's name."""
    return _NAME.fullmatch(text) is not None


def bundle_key(name: str) -> str:
    """Return where a bundle stands."""
    return f"{FOLDER}{name}.json"


def routes_key(name: str) -> str:
    """Return where the small part of a bundle stands."""
    return f"{FOLDER}{name}.routes.json"


def encode_pointer(current: Current) -> bytes:
    """Return the bytes of the pointer."""
    return encode({"name": current.name, "at": current.at})


def read_pointer(raw: bytes) -> Current:
    """Return what the pointer says. Raises Damaged."""
    value = json_object(raw, "The pointer to the published workflows")
    current = Current(as_text(value.get("name")), as_text(value.get("at")))
    if not is_name(current.name):
        raise Corrupt(f"The pointer {POINTER} names no bundle; publish again, or roll back.")
    return current


def encode_compiled(compiled: Compiled) -> bytes:
    """Return the small part of a bundle as bytes, with its own hash."""
    value = {"format": FORMAT, "name": compiled.name, **compiled.to_json()}
    return encode({**value, "sha256": hashlib.sha256(encode(value)).hexdigest()})


def read_compiled(raw: bytes) -> Compiled:
    """Return the small part of a bundle. Raises Damaged for anything but the bytes that were published."""
    value = dict(json_object(raw, "The small part of the published workflows"))
    sha256 = value.pop("sha256", None)
    check_format(value)
    if hashlib.sha256(encode(value)).hexdigest() != sha256:
        raise Corrupt("The small part of the published workflows is not what was written; publish again, or roll back.")
    return compiled_from_json(as_text(value.get("name")), value)


def compiled_from_json(name: str, value: Mapping[str, object]) -> Compiled:
    """Return what `Compiled.to_json` wrote."""
    pairs = map(as_list, as_list(value.get("schedules")))
    schedules = [(as_text(pair[0]), pair[1]) for pair in pairs if len(pair) == 2]
    return Compiled(name, value.get("routes"), value.get("hooks"), schedules)


def json_object(raw: bytes, what: str) -> Mapping[str, object]:
    """Return the JSON object in some bytes. Raises Damaged that says what they should be."""
    try:
        value = cast(object, json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{what} cannot be read; publish again, or roll back.") from error
    return as_object(value)


def check_format(value: Mapping[str, object]) -> None:
    """Raise Damaged for what another Gofer wrote in a form that this one does not know."""
    if value.get("format") != FORMAT:
        told = f"are of the form {value.get('format')!r}, and this Gofer reads {FORMAT}"
        raise Corrupt(f"The published workflows {told}; deploy the Gofer that published them, or roll back.")


@dataclass(frozen=True, slots=True)
class _Held(Generic[T]):
    name: str
    value: T


class Live(Generic[T]):
    """What is published, in the form a process needs it; the same object as long as it does not change.

    When nothing can be read, or what is there is damaged, the last good one stays.
    """

    def __init__(
        self,
        bundles: BundleStore,
        clock: Clock,
        key: Callable[[str], str],
        load: Callable[[bytes], T],
        packaged: T | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Make it with `bundle_key` or `routes_key` as `key`; `load` may raise Damaged and ConfigError.

        `packaged` is what came with the code, for as long as nothing was ever published.
        """
        self._bundles = bundles
        self._clock = clock
        self._key = key
        self._load = load
        self._packaged = packaged
        self._patience = patience
        self._held: _Held[T] | None = None
        self._looked = 0.0

    async def current(self) -> T:
        """Return what is live, as it was at most LOOK_SECONDS ago.

        Raises TemporaryError when there never was anything.
        """
        # By the wall clock: the other one stands still while Lambda freezes a process.
        if self._held is not None and 0 <= self._clock.now() - self._looked < LOOK_SECONDS:
            return self._held.value
        return await self.look()

    async def look(self) -> T:
        """Return what is live now. Raises TemporaryError when there never was anything."""
        # Before the look, so that others who come meanwhile go on with what there is.
        self._looked = self._clock.now()
        try:
            self._held = await self._read(self._held)
        except (TemporaryError, Corrupt, ConfigError, TimeoutError) as error:
            if self._held is None:
                raise TemporaryError(f"There are no workflows to go by: {error}") from error
            _log.warning("the workflows stay those of %s: %s", self._held.name or "the deploy", error or "no answer")
        return self._held.value

    async def _read(self, held: _Held[T] | None) -> _Held[T]:
        patience = None if held is None else self._patience
        async with asyncio.timeout(patience):
            pointer = await self._bundles.read(POINTER)
        if pointer is None:
            return held or self._unpublished()
        current = read_pointer(pointer.body)
        if held is not None and held.name == current.name:
            return held
        async with asyncio.timeout(patience):
            found = await self._bundles.read(self._key(current.name))
        if found is None:
            raise Corrupt(f"The bundle {current.name} is missing; publish again, or roll back.")
        # Files are read and checked: others in this process need not wait for it.
        value = await asyncio.to_thread(self._load, found.body)
        _log.info("the workflows are those of %s", current.name)
        return _Held(current.name, value)

    def _unpublished(self) -> _Held[T]:
        if self._packaged is None:
            raise TemporaryError("Nothing is published yet; run `gofer publish`.")
        return _Held("", self._packaged)
