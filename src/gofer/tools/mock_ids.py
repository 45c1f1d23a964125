"""The ids that mocks make up: the same for the same arguments, and others for others."""

import hashlib
from uuid import UUID

from gofer.tools.definition import Arguments, NewFile, ToolResult
from gofer.values.canonical_json import encode

SECONDS = 1_767_225_600
"""The moment at which all that a mock tells of happened, unix seconds."""
MOMENT = "2026-01-01T00:00:00.000Z"
"""The same, written out."""
NAME = "Somebody"
"""Who it was."""


def digits(said: Arguments | str, count: int) -> str:
    """Return so many digits, the first of them not 0."""
    below = 9 * 10 ** (count - 1)
    return str(10 ** (count - 1) + int.from_bytes(_hash(said)) % below)


def code(said: Arguments | str, count: int = 8) -> str:
    """Return so many digits and capital letters."""
    return _hash(said).hex().upper()[:count]


def uuid(said: Arguments | str) -> str:
    """Return an id with dashes."""
    return str(UUID(bytes=_hash(said)[:16], version=4))


def _hash(said: Arguments | str) -> bytes:
    plain = said if isinstance(said, str) else [type(said).__name__, said.model_dump(mode="json")]
    return hashlib.sha256(encode(plain)).digest()


def fetched(origin: str) -> ToolResult:
    """Return a file of one line, as those that fetch files give it."""
    file = NewFile("notes.txt", "text/plain", b"What stands in this file.\n", origin)
    return ToolResult("The file was fetched.", "fetched a file", files=(file,))
