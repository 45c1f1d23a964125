"""The state folder of one machine as lines of text, and the folder rebuilt from such lines.

`schema.sql` makes the tables. `rows.jsonl` has a line for each frame, in the order of all runs: the rows that were
added and removed since the frame before. `keys.jsonl` and `blobs.jsonl` have the files beside the database. The folder
after frame k is these tables with the rows of the first k lines.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frozen.lines import line
from gofer.app.embedded.integrity import BLOBS, DATABASE, KEY, KEYS
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.sqlite.database import VERSION
from gofer.stores.sqlite.key_file import SLOT
from support.stand_ins import KEY as INSTALLATION

SCHEMA = "state/schema.sql"
ROWS = "state/rows.jsonl"
SLOTS = "state/keys.jsonl"
BODIES = "state/blobs.jsonl"
Row = tuple[str, str]
"""A table and a row of it, as a line of JSON."""
_TABLES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"


class KeptBlobs(MemoryBlobs):
    """A body store that also keeps each body for the corpus."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, bytes] = {}

    async def put(self, key: str, body: bytes) -> None:
        """Store a body."""
        self.kept[key] = body
        await super().put(key, body)


def build(texts: Mapping[str, str], length: int, folder: Path) -> None:
    """Write the folder as it was after a number of frames."""
    folder.mkdir(parents=True, mode=0o700)
    connection = sqlite3.connect(folder / DATABASE)
    connection.executescript(texts[SCHEMA])
    standing: Counter[Row] = Counter()
    for change in map(json.loads, texts[ROWS].splitlines()[:length]):
        standing -= Counter(map(tuple, change["removed"]))
        standing += Counter(map(tuple, change["added"]))
    for table, row in standing.elements():
        values = [_value(value) for value in json.loads(row)]
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    connection.commit()
    connection.close()
    used = map(json.loads, texts[SLOTS].splitlines())
    (folder / KEYS).write_bytes(b"".join(bytes.fromhex(slot["hex"]).ljust(SLOT, b"\0") for slot in used))
    (folder / KEY).write_text(INSTALLATION.current.reveal())
    for key, body in stored(texts):
        path = folder / BLOBS / key
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(body)


def schema(connection: sqlite3.Connection) -> str:
    """Return the statements that make the tables of a database."""
    tables = [f"{sql};\n" for (sql,) in connection.execute(_TABLES)]
    return "".join([*tables, f"PRAGMA user_version={VERSION};\n"])


def rows(connection: sqlite3.Connection) -> "Counter[Row]":
    """Return all rows of all tables, each with its table."""
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = ((name, row) for name in names for row in connection.execute(f"SELECT * FROM {name}"))
    return Counter((name, line([_plain(value) for value in row])) for name, row in found)


def _plain(value: object) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def slots(raw: bytes) -> Iterator[object]:
    """Yield the used slots of a file of keys without the zeros at their end."""
    for at in range(0, len(raw.rstrip(b"\0")), SLOT):
        yield {"hex": raw[at : at + SLOT].rstrip(b"\0").hex()}


def bodies(blobs: KeptBlobs) -> Iterator[object]:
    """Yield each body with its key."""
    for key, body in sorted(blobs.kept.items()):
        yield {"key": key, "hex": body.hex()}


def stored(texts: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the key and the bytes of each frozen body."""
    for row in map(json.loads, texts[BODIES].splitlines()):
        yield row["key"], bytes.fromhex(row["hex"])
