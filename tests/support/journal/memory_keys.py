"""A store of keys for tests: a dictionary."""

from collections.abc import Sequence

from gofer.stores.sqlite.key_file import Claimed, by_age


class MemoryKeys:
    """Keys in a dictionary."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[bytes, int]] = {}

    def get(self, run: str) -> bytes | None:
        """Return the key of a run."""
        return self._keys.get(run, (None, 0))[0]

    def put(self, run: str, key: bytes, at: int) -> None:
        """Store the key of a run."""
        self._keys[run] = (key, at)

    def sync(self) -> None:
        """Do nothing: a dictionary needs no sync."""

    def destroy(self, run: str) -> None:
        """Remove the key of a run."""
        self._keys.pop(run, None)

    def before(self, at: int) -> Sequence[Claimed]:
        """Return the runs whose keys were stored before a time, oldest first."""
        return by_age([Claimed(run, claimed) for run, (_, claimed) in self._keys.items()], at)
