"""The store of keys: the one place with the bytes that open what runs stored, apart from the store of journals.

A key is written before the claim that uses it, and is overwritten when its run is deleted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Claimed:
    """When the key of a run was written."""

    run: str
    at: int
    """Unix milliseconds; 0 is unknown."""


class Keys(Protocol):
    """The keys of runs. Callers hold the write lock of the journals, so no two calls happen at once.

    Every call may raise TemporaryError, and Corrupt when the stored bytes are not what was written.
    """

    def get(self, run: str) -> bytes | None:
        """Return the key of a run, or None."""
        ...

    def put(self, run: str, key: bytes, at: int) -> None:
        """Write the key of a run, in place of an earlier one; durable after `sync`."""
        ...

    def sync(self) -> None:
        """Make durable what was put."""
        ...

    def destroy(self, run: str) -> None:
        """Overwrite the key of a run, durably; nothing happens when there is none."""
        ...

    def before(self, at: int) -> Sequence[Claimed]:
        """List the keys written at a known time before `at` (unix ms), oldest first."""
        ...


def by_age(known: Sequence[Claimed], before: int) -> Sequence[Claimed]:
    """Return the claims of a known time before `before`, oldest first."""
    old = [claimed for claimed in known if 0 < claimed.at < before]
    return sorted(old, key=lambda claimed: (claimed.at, claimed.run))
