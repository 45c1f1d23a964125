"""A search for secrets in all bytes of a folder or a cloud, in any encoding."""

import base64
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gofer.journal.frames import open_alone
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.values.errors import Corrupt

READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM frames").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""


def written(secret: bytes) -> Sequence[bytes]:
    """Return a secret in every encoding that the search covers."""
    text = secret.decode("latin-1")
    plain = [secret, secret.hex().encode(), secret.hex().upper().encode(), text.encode("utf-16-le"), secret[::-1]]
    # Base64 of the same bytes differs at each of three offsets. Only the middle part is the same everywhere.
    offsets = [base64.b64encode(bytes(shift) + secret)[4:-4] for shift in range(3)]
    return [*plain, *offsets]


def holding(raw: bytes, *secrets: bytes) -> Sequence[bytes]:
    """Return the secrets that are in these bytes, whole or half, in any encoding."""
    halves = {secret: (secret, secret[: len(secret) // 2], secret[len(secret) // 2 :]) for secret in secrets}
    return [
        secret
        for secret, parts in halves.items()
        if any(shape in raw for part in (parts if len(secret) >= 32 else parts[:1]) for shape in written(part))
    ]


def opens(raw: bytes, run: str, n: int, frame: bytes) -> bool:
    """Return whether any window of these bytes is a key that opens the frame."""
    windows = {raw[at : at + KEY_BYTES] for at in range(len(raw) - KEY_BYTES + 1)}
    return any(_opens(window, run, n, frame) for window in windows)


def _opens(key: bytes, run: str, n: int, frame: bytes) -> bool:
    try:
        open_alone(n, frame, Seal(run, key))
    except (Corrupt, ValueError):
        return False
    return True


def files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder, by name."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        try:
            found[str(path.relative_to(folder))] = path.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            continue
    return found


@contextmanager
def reading(database: Path) -> Iterator[None]:
    """Let another process read the database meanwhile, so that its log cannot be emptied."""
    command = [sys.executable, "-c", READER, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reading\n"
        yield
        process.communicate()
