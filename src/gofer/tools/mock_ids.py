"""The ids in the results of mocks: equal for equal arguments, different for different ones."""

import hashlib
from uuid import UUID

from gofer.tools.definition import Arguments, NewFile, ToolResult
from gofer.values.canonical_json import encode

SECONDS = 1_767_225_600
"""The time in all results of mocks, unix seconds."""
MOMENT = "2026-01-01T00:00:00.000Z"
"""The same time in ISO 8601."""
NAME = "Somebody"
"""The name of the person in all results of mocks."""


def digits(seed: Arguments | str, count: int) -> str:
    """Return `count` digits; the first is not 0."""
    below = 9 * 10 ** (count - 1)
    return str(10 ** (count - 1) + int.from_bytes(_hash(seed)) % below)


def code(seed: Arguments | str, count: int = 8) -> str:
    """Return `count` digits and capital letters."""
    return _hash(seed).hex().upper()[:count]


def uuid(seed: Arguments | str) -> str:
    """Return a UUID."""
    return str(UUID(bytes=_hash(seed)[:16], version=4))


def _hash(seed: Arguments | str) -> bytes:
    if isinstance(seed, str):
        return hashlib.sha256(encode(seed)).digest()
    return hashlib.sha256(encode([type(seed).__name__, seed.model_dump(mode="json")])).digest()


def fetched(origin: str) -> ToolResult:
    """Return the result of a mocked tool that fetches a file."""
    file = NewFile("notes.txt", "text/plain", b"What stands in this file.\n", origin)
    return ToolResult("The file was fetched.", "fetched a file", files=(file,))
