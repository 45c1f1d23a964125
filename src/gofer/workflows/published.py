"""The published workflows: the routes file, the pointer to the live bundle, and a cache of what is live.

Receivers import this module, so it imports neither YAML nor pydantic. `workflows.publication` reads the bundles.
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
"""The version of the published format. Gofer refuses any other version instead of reading a part of it."""
FOLDER = "bundles/"
POINTER = "bundles/current.json"
"""The object that names the live bundle: `{"name": …, "at": …}`."""
LOOK_SECONDS = 30.0
"""How long a process uses its cached workflows before it reads the pointer again."""
PATIENCE = 1.5
"""Seconds that each of the two requests may take when there is a cached value."""

_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}", re.ASCII)
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """An object of a bundle store."""

    body: bytes
    tag: str
    """The version of the object; every write changes it."""


class BundleStore(Protocol):
    """The storage of published workflows: objects by key. Every call may raise TemporaryError."""

    async def read(self, key: str) -> Found | None:
        """Return the object, or None."""
        ...

    async def create(self, key: str, body: bytes) -> bool:
        """Write a new object and return True; return False and write nothing when the key exists."""
        ...

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        """Write an object if the stored one has this tag, and return whether it did.

        An empty tag means no stored object.
        """
        ...

    async def keys(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with `prefix`, sorted."""
        ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """The data that receivers and schedules need of published workflows, as plain JSON."""

    name: str
    """The name of the bundle; empty for workflows that came with a deploy."""
    routes: object
    hooks: object
    schedules: Sequence[tuple[str, object]]
    """Workflow names with their compiled schedules."""

    def to_json(self) -> dict[str, object]:
        """Return the data as JSON, without the name."""
        return {"routes": self.routes, "hooks": self.hooks, "schedules": self.schedules}


@dataclass(frozen=True, slots=True)
class Current:
    """The pointer: the live bundle, and the time at which it became live."""

    name: str
    at: str
    """ISO 8601, UTC."""


def bundle_name(at: float, sha256: str) -> str:
    """Return the name of a bundle made at a time (unix seconds). Names sort by time."""
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}-{sha256[:12]}"


def is_name(text: str) -> bool:
    """Return whether a text has the form of a bundle's name."""
    return _NAME.fullmatch(text) is not None


def bundle_key(name: str) -> str:
    """Return the key of a bundle."""
    return f"{FOLDER}{name}.json"


def routes_key(name: str) -> str:
    """Return the key of a bundle's routes file."""
    return f"{FOLDER}{name}.routes.json"


def encode_pointer(current: Current) -> bytes:
    """Return the bytes of the pointer."""
    return encode({"name": current.name, "at": current.at})


def read_pointer(raw: bytes) -> Current:
    """Return the pointer of its bytes. Raises Corrupt."""
    value = json_object(raw, "The pointer to the published workflows")
    current = Current(as_text(value.get("name")), as_text(value.get("at")))
    if not is_name(current.name):
        raise Corrupt(f"The pointer {POINTER} does not name a bundle; publish again, or roll back.")
    return current


def encode_compiled(compiled: Compiled) -> bytes:
    """Return the bytes of a routes file, which contains its own hash."""
    value = {"format": FORMAT, "name": compiled.name, **compiled.to_json()}
    return encode({**value, "sha256": hashlib.sha256(encode(value)).hexdigest()})


def read_compiled(raw: bytes) -> Compiled:
    """Return the data of a routes file. Raises Corrupt unless its bytes are those that were published."""
    value = dict(json_object(raw, "The routes file of the published workflows"))
    sha256 = value.pop("sha256", None)
    check_format(value)
    if hashlib.sha256(encode(value)).hexdigest() != sha256:
        raise Corrupt(
            "The routes file of the published workflows does not match its checksum; publish again, or roll back."
        )
    return compiled_from_json(as_text(value.get("name")), value)


def compiled_from_json(name: str, value: Mapping[str, object]) -> Compiled:
    """Return the data that `Compiled.to_json` wrote."""
    pairs = map(as_list, as_list(value.get("schedules")))
    schedules = [(as_text(pair[0]), pair[1]) for pair in pairs if len(pair) == 2]
    return Compiled(name, value.get("routes"), value.get("hooks"), schedules)


def json_object(raw: bytes, name: str) -> Mapping[str, object]:
    """Return the JSON object in some bytes. Raises Corrupt with `name` as the subject of its message."""
    try:
        value = cast(object, json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{name} cannot be read; publish again, or roll back.") from error
    return as_object(value)


def check_format(value: Mapping[str, object]) -> None:
    """Raise Corrupt for an object in a format version that this Gofer does not know."""
    if value.get("format") != FORMAT:
        versions = f"have the format version {value.get('format')!r}, and this Gofer reads version {FORMAT}"
        raise Corrupt(
            f"The published workflows {versions}; deploy the version of Gofer that published them, or roll back."
        )


@dataclass(frozen=True, slots=True)
class _Cached(Generic[T]):
    name: str
    value: T


class Live(Generic[T]):
    """A cache of what is live, in the form that a process needs. It returns the same object until the pointer moves.

    When the published objects are unreachable or corrupt, the cache keeps its last good value.
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
        """Create a cache with `bundle_key` or `routes_key` as `key`; `load` may raise Corrupt and ConfigError.

        `packaged` is the value that came with the deploy, used until something is published.
        """
        self._bundles = bundles
        self._clock = clock
        self._key = key
        self._load = load
        self._packaged = packaged
        self._patience = patience
        self._cached: _Cached[T] | None = None
        self._looked = 0.0

    async def current(self) -> T:
        """Return the live value, at most LOOK_SECONDS old.

        Raises TemporaryError when no value could be loaded so far.
        """
        # By the wall clock: the monotonic clock stops while Lambda freezes a process.
        if self._cached is not None and 0 <= self._clock.now() - self._looked < LOOK_SECONDS:
            return self._cached.value
        return await self.look()

    async def look(self) -> T:
        """Reload and return the live value. Raises TemporaryError when no value could be loaded so far."""
        # Set before the reload, so that concurrent callers use the cached value meanwhile.
        self._looked = self._clock.now()
        try:
            self._cached = await self._read(self._cached)
        except (TemporaryError, Corrupt, ConfigError, TimeoutError) as error:
            if self._cached is None:
                raise TemporaryError(f"No workflows are loaded: {error}") from error
            _log.warning(
                "the workflows could not be reloaded, so those of %s stay live: %s",
                self._cached.name or "the deploy",
                error or "no answer",
            )
        return self._cached.value

    async def _read(self, cached: _Cached[T] | None) -> _Cached[T]:
        patience = None
        if cached is not None:
            patience = self._patience
        async with asyncio.timeout(patience):
            pointer = await self._bundles.read(POINTER)
        if pointer is None:
            return cached or self._unpublished()
        current = read_pointer(pointer.body)
        if cached is not None and cached.name == current.name:
            return cached
        async with asyncio.timeout(patience):
            found = await self._bundles.read(self._key(current.name))
        if found is None:
            raise Corrupt(f"The bundle {current.name} is missing; publish again, or roll back.")
        # Loading reads and checks files; a thread keeps the event loop free for other runs.
        value = await asyncio.to_thread(self._load, found.body)
        _log.info("the workflows of %s are live", current.name)
        return _Cached(current.name, value)

    def _unpublished(self) -> _Cached[T]:
        if self._packaged is None:
            raise TemporaryError("Nothing is published yet; run `gofer publish`.")
        return _Cached("", self._packaged)
