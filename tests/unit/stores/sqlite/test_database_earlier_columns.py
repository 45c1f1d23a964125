"""Databases of format 8 that an earlier version wrote: columns that they lack are added when they are opened."""

import sqlite3
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.stores.queue import QueueLine
from gofer.stores.sqlite import journal, queue
from gofer.stores.sqlite.database import VERSION, Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.queue import SqliteQueue
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

ADDED = (
    ",\n    facts TEXT NOT NULL DEFAULT '', by_person INTEGER NOT NULL DEFAULT 0",
    ",\n    people INTEGER NOT NULL DEFAULT 1, workflow TEXT NOT NULL DEFAULT ''",
    """CREATE INDEX IF NOT EXISTS heads_abandoned ON heads (accepted_at DESC, run)
    WHERE status = 'needs_attention' AND facts = '';
CREATE INDEX IF NOT EXISTS heads_rated ON heads (accepted_at DESC, run)
    WHERE instr(facts, '"good":') OR instr(facts, '"bad":');
""",
    "CREATE INDEX IF NOT EXISTS queue_messages_in_line ON queue_messages (people, workflow, visible_at);",
)
"""What this version adds to the tables of the one before."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database with one head and one message, as an earlier version wrote it."""
    path = tmp_path / "gofer.db"
    schema = journal.SCHEMA + queue.SCHEMA
    for added in ADDED:
        assert added in schema
        schema = schema.replace(added, "")
    connection = sqlite3.connect(path)
    connection.executescript(f"{schema} PRAGMA user_version={VERSION};")
    connection.execute("INSERT INTO heads VALUES ('r', 'w', 'c', 1, 'done', 0, 2, '', 0, 3, 'due')")
    connection.execute("INSERT INTO queue_messages VALUES (1, 'r', 1.0, 0)")
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


async def test_message_of_an_earlier_version_is_received_before_machines(path: Path) -> None:
    database = Database(path, journal.SCHEMA + queue.SCHEMA)
    messages = SqliteQueue(database, SetClock())
    await messages.enqueue("import", line=QueueLine(people=False, workflow="imports"))
    assert [message.run for message in await messages.receive(9, 60, 0)] == ["r", "import"]
    database.close()


async def test_two_processes_open_an_earlier_database_and_add_the_column_once(path: Path) -> None:
    first = Database(path, journal.SCHEMA)
    second = Database(path, journal.SCHEMA)
    assert await SqliteStore(second, MemoryKeys()).head("r") is not None
    first.close()
    second.close()
    columns = [row[1] for row in sqlite3.connect(path).execute("PRAGMA table_info(heads)")]
    assert columns.count("facts") == 1
