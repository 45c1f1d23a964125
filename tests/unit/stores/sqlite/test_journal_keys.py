"""Keys of the SQLite store: kept apart from journals, and written before a claim counts."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gofer.app.embedded.state import open_state
from gofer.journal.coordination import Head
from gofer.stores.sqlite.database import VERSION, Database
from gofer.stores.sqlite.journal import SCHEMA, SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.values.errors import TemporaryError
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import SetClock, any_store

pytestmark = pytest.mark.anyio

KEY = bytes(range(100, 164))


class FailingKeys(MemoryKeys):
    """Keys on a full disk."""

    full = True

    def sync(self) -> None:
        if self.full:
            raise TemporaryError("the disk is full")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "gofer.db", SCHEMA)
    yield made
    made.close()


def files(folder: Path, *left_out: str) -> bytes:
    """Return the bytes of all files of a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in left_out)
    return b"".join(path.read_bytes() for path in found)


async def test_run_key_is_never_in_the_sqlite_database_or_log(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("r", b"one", KEY)
        assert (KEY in files(tmp_path, "keys"), KEY in files(tmp_path)) == (False, True)
    assert KEY not in files(tmp_path, "keys")


async def test_claim_fails_when_the_key_is_not_durable(database: Database) -> None:
    keys = FailingKeys()
    store = SqliteStore(database, keys)
    with pytest.raises(TemporaryError, match="the disk is full"):
        await store.claim("r", b"one", KEY)
    keys.full = False
    assert list(await store.frames("r")) == []
    assert await store.claim("r", b"another", b"another key") is None
    assert (await store.key("r"), list(await store.frames("r"))) == (b"another key", [b"another"])


async def test_key_of_a_lost_claim_is_replaced_by_the_next_claim_of_the_run(tmp_path: Path) -> None:
    lost = KeyFile(tmp_path / "keys")
    lost.put("r", KEY, 1)
    lost.close()
    with any_store("sqlite", tmp_path) as store:
        assert await store.claim("r", b"one", b"its own key", 2) is None
        assert await store.key("r") == b"its own key"
        assert KEY not in files(tmp_path)


async def test_old_keys_of_lost_claims_are_destroyed(tmp_path: Path) -> None:
    lost = KeyFile(tmp_path / "keys")
    for run, at in (("old", 5), ("new", 50)):
        lost.put(run, KEY, at)
    lost.close()
    with any_store("sqlite", tmp_path) as store:
        await store.claim("claimed", b"one", b"key", 5)
        await store.drop_orphans(50)
        assert [await store.key(run) for run in ("old", "new", "claimed")] == [None, KEY, b"key"]


async def test_two_processes_agree_on_the_key_of_a_run(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as here, any_store("sqlite", tmp_path) as there:
        claims = (store.claim("r", name, name) for store, name in ((here, b"here"), (there, b"there")))
        standing = [found for found in await asyncio.gather(*claims) if found is not None]
        assert await here.key("r") == await there.key("r") == standing[0]
        await there.destroy_key("r")
        assert await here.key("r") is None


def test_new_database_has_the_version_of_this_gofer(tmp_path: Path) -> None:
    with open_state(tmp_path, SetClock()):
        pass
    with closing(sqlite3.connect(tmp_path / "gofer.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


async def test_unlisted_claim_is_found_by_the_age_of_the_key(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("listed", b"one", KEY, 5)
        await store.claim("unlisted", b"one", KEY, 5)
        await store.create_head(Head("listed", "w", "c", 5))
        assert list(await store.unlisted(6, 10)) == ["unlisted"]
