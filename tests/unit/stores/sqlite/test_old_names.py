"""What earlier versions wrote into rows of one machine is replaced when Gofer begins to serve them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SCHEMA, SqliteStore
from gofer.stores.sqlite.old_names import replace_old_names
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import NOON, TOKENS

pytestmark = pytest.mark.anyio

THREAD = "slack:T0ACME00:C0LEADS00:1795262400.000100"


async def test_names_become_tokens_and_no_byte_of_them_is_left(tmp_path: Path) -> None:
    path = tmp_path / "gofer.db"
    database = Database(path, SCHEMA)
    store = SqliteStore(database, MemoryKeys())
    await store.create_head(Head("old", "w", THREAD, 1))
    await store.create_head(Head("older", "w", THREAD, 0, "done"))
    await store.create_head(Head("new", "w", TOKENS.conversation("slack:T:C:1"), 2))
    await store.create_head(Head("new.child", "", "", 3, "done", retention="deleted"))
    await store.lease(THREAD, "me", NOON, 60)
    assert await replace_old_names(database, TOKENS) == 2
    token = TOKENS.conversation(THREAD)
    assert await store.oldest_runnable(token) == Head("old", "w", token, 1)
    assert await store.previous(token, "w", 1) == Head("older", "w", token, 0, "done")
    assert not await store.lease(token, "you", NOON, 60)
    assert await store.head("new") == Head("new", "w", TOKENS.conversation("slack:T:C:1"), 2)
    below = await store.head("new.child")
    assert below is not None
    assert below.conversation == ""
    assert await replace_old_names(database, TOKENS) == 0
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert (token.encode() in files, b"C0LEADS00" in files) == (True, False)
    database.close()


async def test_a_row_that_is_no_text_does_not_keep_gofer_from_starting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "gofer.db"
    Database(path, SCHEMA).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO leases VALUES (CAST(x'ff00ff' AS TEXT), 'o', 1)")
        connection.commit()
    database = Database(path, SCHEMA)
    assert await replace_old_names(database, TOKENS) == 0
    database.close()
    assert "were not all replaced" in caplog.text
