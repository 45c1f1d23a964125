"""Databases of format 8 that an earlier version wrote: columns that they lack are added when they are opened."""

import sqlite3
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.stores.sqlite import journal
from gofer.stores.sqlite.database import VERSION, Database
from gofer.stores.sqlite.journal import SqliteStore
from support.journal.memory_keys import MemoryKeys

pytestmark = pytest.mark.anyio

FACTS = ",\n    facts TEXT NOT NULL DEFAULT ''"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database with one head, as the version before facts wrote it."""
    path = tmp_path / "gofer.db"
    assert FACTS in journal.SCHEMA
    connection = sqlite3.connect(path)
    connection.executescript(f"{journal.SCHEMA.replace(FACTS, '')} PRAGMA user_version={VERSION};")
    connection.execute("INSERT INTO heads VALUES ('r', 'w', 'c', 1, 'done', 0, 2, '', 0, 3, 'due')")
    connection.commit()
    connection.close()
    return path


async def test_heads_of_an_earlier_version_have_no_facts_and_take_new_ones(path: Path) -> None:
    database = Database(path, journal.SCHEMA)
    store = SqliteStore(database, MemoryKeys())
    head = Head("r", "w", "c", 1, "done", private=False, updated_at=2, frames=3)
    assert await store.head("r") == head
    await store.put_head(head.now("done", 5, facts="{}"))
    assert [item.facts for item in await store.heads(9)] == ["{}"]
    database.close()


async def test_two_processes_open_an_earlier_database_and_add_the_column_once(path: Path) -> None:
    first = Database(path, journal.SCHEMA)
    second = Database(path, journal.SCHEMA)
    assert await SqliteStore(second, MemoryKeys()).head("r") is not None
    first.close()
    second.close()
    columns = [row[1] for row in sqlite3.connect(path).execute("PRAGMA table_info(heads)")]
    assert columns.count("facts") == 1
