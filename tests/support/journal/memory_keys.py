"""A store of keys for tests: a dictionary."""

from collections.abc import Sequence

from gofer.stores.sqlite.key_file import Claimed, by_age


class MemoryKeys:
    """Keys in a dictionary."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[bytes, int]] = {}

    def get(self, run: str) -> bytes | None:
        """See Keys.get."""
        return self._keys.get(run, (None, 0))[0]

    def put(self, run: str, key: bytes, at: int) -> None:
        """See Keys.put."""
        self._keys[run] = (key, at)

    def sync(self) -> None:
        """See Keys.sync."""

    def destroy(self, run: str) -> None:
        """See Keys.destroy."""
        self._keys.pop(run, None)

    def before(self, at: int) -> Sequence[Claimed]:
        """See Keys.before."""
        return by_age([Claimed(run, claimed) for run, (_, claimed) in self._keys.items()], at)
