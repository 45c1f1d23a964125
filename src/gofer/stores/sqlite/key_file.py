"""The keys of runs in a file apart from the journals: slots of one size, overwritten in place.

A key is written before the claim that uses it, and overwritten when its run is deleted. A slot is free (zeros) or holds
one key with a checksum, so a torn slot is never taken for a key. A slot is smaller than a sector of a disk. The first
slot is the header. Its generation number tells a process that another process has changed the file.
"""

import contextlib
import hashlib
import os
import struct
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from gofer.stores.sqlite.durable_files import sync_folder
from gofer.values.errors import Corrupt, TemporaryError

SLOT = 256
"""The size of a slot in bytes."""
MAGIC = b"gofer keys 1\n"

_EMPTY = MAGIC.ljust(SLOT, b"\0")
_GENERATION = struct.Struct(">Q")
_HEADER = 32
"""The bytes of the header that are read: MAGIC, padding, and the generation in the last eight bytes."""
_SUM = 16
"""The bytes of the checksum before the content of a slot."""
_CONTENT = struct.Struct(">QBB120s64s")
"""The content of a slot: time of the claim (unix ms), lengths of run and key, run, key."""
_RUN = 120
_KEY = 64
_FREE = bytes(SLOT)
_LEAST_GROWTH = 15
_MOST_GROWTH = 256
"""The file doubles when it has no free slot, within these numbers of slots. So a new one takes 4 kB, and most keys go
into blocks that the file already has."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """The time at which the key of a run was written."""

    run: str
    at: int
    """Unix milliseconds; 0 means unknown."""


class Keys(Protocol):
    """The keys of runs. Callers hold the write lock of the journals, so calls never overlap.

    Every call may raise TemporaryError, and Corrupt when the file is damaged.
    """

    def get(self, run: str) -> bytes | None:
        """Return the key of a run, or None."""
        ...

    def put(self, run: str, key: bytes, at: int) -> None:
        """Write the key of a run and replace an earlier one. The key is durable after `sync`."""
        ...

    def sync(self) -> None:
        """Make all written keys durable."""
        ...

    def destroy(self, run: str) -> None:
        """Overwrite the key of a run durably; do nothing if there is none."""
        ...

    def before(self, at: int) -> Sequence[Claimed]:
        """Return the keys with a known time before `at` (unix ms), oldest first."""
        ...


def by_age(known: Sequence[Claimed], before: int) -> Sequence[Claimed]:
    """Return the claims with a known time before `before`, oldest first."""
    old = [claimed for claimed in known if 0 < claimed.at < before]
    return sorted(old, key=lambda claimed: (claimed.at, claimed.run))


class KeyFile(Keys):
    """The key file of one folder. The first call opens the file, under the lock of its caller."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._generation = -1
        self._slots: dict[str, tuple[int, int]] = {}
        """The number of a run's slot, and when it was claimed."""
        self._free: list[int] = []
        self._end = 1
        self._dirty = False

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None

    @override
    def get(self, run: str) -> bytes | None:
        with self._opened() as handle:
            known = self._slots.get(run)
            if known is None:
                return None
            content = _content(os.pread(handle, SLOT, known[0] * SLOT))
            if content is None or content[0] != run:
                return None
            return content[2]

    @override
    def put(self, run: str, key: bytes, at: int) -> None:
        slot = _slot(run, key, at)
        with self._opened() as handle:
            number, _ = self._slots.get(run) or (self._free_slot(handle), 0)
            self._dirty = True
            self._slots[run] = (number, at)
            os.pwrite(handle, slot, number * SLOT)
            self._increment_generation(handle)

    @override
    def sync(self) -> None:
        if not self._dirty:
            return
        with self._opened() as handle:
            _make_durable(handle)
            self._dirty = False

    @override
    def destroy(self, run: str) -> None:
        with self._opened() as handle:
            if run not in self._slots:
                return
            self._overwrite(handle, self._slots[run][0])
            self._free.append(self._slots.pop(run)[0])
            self._increment_generation(handle)

    @override
    def before(self, at: int) -> Sequence[Claimed]:
        with self._opened():
            return by_age([Claimed(run, claimed) for run, (_, claimed) in self._slots.items()], at)

    @contextlib.contextmanager
    def _opened(self) -> Generator[int]:
        """Yield the open file with an up-to-date index of its slots."""
        try:
            if self._handle is None:
                self._handle = _open(self._path)
            self._refresh(self._handle)
            yield self._handle
        except OSError as error:
            failure = f"{self._path} cannot be read or written ({error.strerror})"
            raise TemporaryError(f"{failure}; nothing was written. Check the folder and the disk.") from error

    def _refresh(self, handle: int) -> None:
        header = os.pread(handle, _HEADER, 0)
        if not header.startswith(MAGIC):
            raise Corrupt(f"{self._path} is not a key file; stop Gofer and restore the file from a backup.")
        (generation,) = _GENERATION.unpack(header[-_GENERATION.size :])
        if generation != self._generation:
            self._read(handle)
            self._generation = generation

    def _read(self, handle: int) -> None:
        """Read all slots into the index. The caller holds the lock, so a torn slot is what a crashed process left."""
        raw = _read_all(handle)
        self._slots = {}
        self._free = []
        self._end = max(1, -(-len(raw) // SLOT))
        for number in range(self._end - 1, 0, -1):
            slot = raw[number * SLOT : (number + 1) * SLOT]
            content = _content(slot)
            if content is not None:
                self._slots[content[0]] = (number, content[1])
                continue
            if slot != _FREE:
                self._overwrite(handle, number)
            self._free.append(number)

    def _free_slot(self, handle: int) -> int:
        if not self._free:
            growth = min(_MOST_GROWTH, max(_LEAST_GROWTH, self._end))
            os.pwrite(handle, _FREE * growth, self._end * SLOT)
            self._free = list(range(self._end + growth - 1, self._end - 1, -1))
            self._end += growth
        return self._free.pop()

    def _overwrite(self, handle: int, number: int) -> None:
        for content in (os.urandom(SLOT), _FREE):
            os.pwrite(handle, content, number * SLOT)
            _make_durable(handle)

    def _increment_generation(self, handle: int) -> None:
        """Tell other processes that their index of the slots is out of date."""
        self._generation += 1
        os.pwrite(handle, _GENERATION.pack(self._generation), _HEADER - _GENERATION.size)


def is_key_file(path: Path) -> bool:
    """Return whether a file begins with the magic bytes of a key file. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _open(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(handle, 0o600)
    found = os.pread(handle, SLOT, 0)
    if len(found) < SLOT and _EMPTY.startswith(found):
        os.pwrite(handle, _EMPTY, 0)
        os.fsync(handle)
        # A new file is durable only after its folder was synced.
        sync_folder(path.parent)
    return handle


def _make_durable(handle: int) -> None:
    """Wait until the bytes and the size of the file are on the disk; readers do not need its times."""
    if sys.platform == "linux":
        os.fdatasync(handle)
    else:
        os.fsync(handle)


def _read_all(handle: int) -> bytes:
    size = os.fstat(handle).st_size
    parts: list[bytes] = []
    while (offset := sum(map(len, parts))) < size and (part := os.pread(handle, size - offset, offset)):
        parts.append(part)
    return b"".join(parts)


def _slot(run: str, key: bytes, at: int) -> bytes:
    name = run.encode()
    if not 0 < len(name) <= _RUN or not 0 < len(key) <= _KEY:
        raise ValueError(f"a run of {len(name)} bytes with a key of {len(key)} does not fit into a slot")
    content = _CONTENT.pack(at, len(name), len(key), name, key)
    return (_checksum(content) + content).ljust(SLOT, b"\0")


def _content(slot: bytes) -> tuple[str, int, bytes] | None:
    """Return run, time and key of a slot, or None if the slot is free or torn."""
    content = slot[_SUM : _SUM + _CONTENT.size]
    if len(slot) != SLOT or slot[:_SUM] != _checksum(content):
        return None
    at, named, keyed, name, key = _CONTENT.unpack(content)
    return name[:named].decode(), at, key[:keyed]


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:_SUM]
