"""Bodies in the memory of one process."""

from gofer.journal.blob_store import verified


class MemoryBlobs:
    """Bodies in a dictionary."""

    def __init__(self) -> None:
        self._bodies: dict[str, bytes] = {}

    async def put(self, key: str, body: bytes) -> None:
        """Store a body; storing it again changes nothing."""
        self._bodies.setdefault(key, body)

    async def get(self, key: str) -> bytes:
        """Return a body. Raises Corrupt when it is missing."""
        return verified(key, self._bodies.get(key))

    async def drop(self, folder: str) -> None:
        """Remove all bodies of a folder."""
        for key in [key for key in self._bodies if key.startswith(f"{folder}/")]:
            del self._bodies[key]
