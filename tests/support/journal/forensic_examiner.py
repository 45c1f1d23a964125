"""A forensic examiner: looks for secrets in every byte of a folder or of a cloud, however they were written down."""

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
    """A secret as itself and in the encodings in which programs leave things behind."""
    text = secret.decode("latin-1")
    plain = [secret, secret.hex().encode(), secret.hex().upper().encode(), text.encode("utf-16-le"), secret[::-1]]
    # In base64 the same bytes read differently at each of three offsets; the middle is the same wherever they stand.
    offsets = [base64.b64encode(bytes(shift) + secret)[4:-4] for shift in range(3)]
    return [*plain, *offsets]


def holding(raw: bytes, *secrets: bytes) -> Sequence[bytes]:
    """The secrets of which bytes hold the whole or a half, in any encoding."""
    halves = {secret: (secret, secret[: len(secret) // 2], secret[len(secret) // 2 :]) for secret in secrets}
    return [
        secret
        for secret, parts in halves.items()
        if any(shape in raw for part in (parts if len(secret) >= 32 else parts[:1]) for shape in written(part))
    ]


def opens(raw: bytes, run: str, n: int, frame: bytes) -> bool:
    """Whether any window of these bytes is a key that opens a frame."""
    windows = {raw[at : at + KEY_BYTES] for at in range(len(raw) - KEY_BYTES + 1)}
    return any(_opens(window, run, n, frame) for window in windows)


def _opens(key: bytes, run: str, n: int, frame: bytes) -> bool:
    try:
        open_alone(n, frame, Seal(run, key))
    except (Corrupt, ValueError):
        return False
    return True


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        try:
            found[str(path.relative_to(folder))] = path.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            continue
    return found


@contextmanager
def reading(database: Path) -> Iterator[None]:
    """Another process reads the database meanwhile, so that its log cannot be emptied."""
    command = [sys.executable, "-c", READER, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reading\n"
        yield
        process.communicate()
