"""Keys are kept apart from journals: a claim has a key whatever fails, and a database of before is taken over."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gofer.app.embedded.state import open_state, read_state
from gofer.journal.coordination import Head
from gofer.stores.sqlite.database import UPGRADED, VERSION, Database
from gofer.stores.sqlite.journal import SCHEMA, SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.values.errors import Corrupt, TemporaryError
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import SetClock, any_store

pytestmark = pytest.mark.anyio

KEY = bytes(range(100, 164))
OLD_KEYS = """
CREATE TABLE keys (run TEXT PRIMARY KEY, key BLOB NOT NULL, claimed_at INTEGER NOT NULL);
CREATE INDEX keys_by_age ON keys (claimed_at, run);
"""


class FailingKeys(MemoryKeys):
    """Keys on a disk that is full."""

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
    """Every byte of every file of a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in left_out)
    return b"".join(path.read_bytes() for path in found)


async def test_a_key_is_never_in_the_database_or_its_log(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("r", b"one", KEY)
        assert (KEY in files(tmp_path, "keys"), KEY in files(tmp_path)) == (False, True)
    assert KEY not in files(tmp_path, "keys")


async def test_a_claim_whose_key_is_not_durable_was_not_made(database: Database) -> None:
    keys = FailingKeys()
    store = SqliteStore(database, keys)
    with pytest.raises(TemporaryError, match="the disk is full"):
        await store.claim("r", b"one", KEY)
    keys.full = False
    assert list(await store.frames("r")) == []
    assert await store.claim("r", b"another", b"another key") is None
    assert (await store.key("r"), list(await store.frames("r"))) == (b"another key", [b"another"])


async def test_the_key_of_a_lost_claim_is_replaced_by_the_next_claim_of_that_run(tmp_path: Path) -> None:
    lost = KeyFile(tmp_path / "keys")
    lost.put("r", KEY, 1)
    lost.close()
    with any_store("sqlite", tmp_path) as store:
        assert await store.claim("r", b"one", b"its own key", 2) is None
        assert await store.key("r") == b"its own key"
        assert KEY not in files(tmp_path)


async def test_keys_of_lost_claims_are_destroyed_when_they_are_old(tmp_path: Path) -> None:
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


def written_before(folder: Path, runs: int = 1) -> None:
    """A folder as the version before left it, with pages that were split and merged."""
    with closing(sqlite3.connect(folder / "gofer.db", isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; {SCHEMA} {OLD_KEYS}")
        connection.execute(f"PRAGMA user_version={UPGRADED}")
        connection.execute("BEGIN")
        for number in range(runs):
            connection.execute(
                "INSERT INTO keys VALUES (?, ?, ?)", (f"run{number}", KEY[:60] + b"%04d" % number, number)
            )
        for number in range(0, runs, 3):
            connection.execute("DELETE FROM keys WHERE run = ?", (f"run{number}",))
        connection.execute("INSERT INTO keys VALUES ('kept', ?, 7)", (KEY,))
        connection.execute("INSERT INTO keys VALUES ('kept/child', x'', 0)")
        connection.execute("COMMIT")


async def test_keys_of_a_database_of_before_are_moved_and_no_copy_stays(tmp_path: Path) -> None:
    written_before(tmp_path, runs=500)
    with open_state(tmp_path, SetClock()) as state:
        assert await state.store.key("kept") == KEY
        assert KEY[:60] not in files(tmp_path, "keys")
    with open_state(tmp_path, SetClock()) as state:
        assert await state.store.key("kept") == KEY
        assert await state.store.key("run1") == KEY[:60] + b"0001"


async def test_a_takeover_that_was_killed_goes_on_with_the_next_start(tmp_path: Path) -> None:
    written_before(tmp_path)

    def killed(connection: sqlite3.Connection) -> None:
        keys = KeyFile(tmp_path / "keys")
        keys.put("kept", KEY, 7)
        keys.close()
        connection.execute("DROP TABLE keys")
        raise TemporaryError("killed")

    with pytest.raises(TemporaryError, match="killed"):
        Database(tmp_path / "gofer.db", SCHEMA, killed)
    with open_state(tmp_path, SetClock()) as state:
        assert await state.store.key("kept") == KEY
        assert KEY not in files(tmp_path, "keys")


async def test_a_database_of_before_that_is_read_elsewhere_is_taken_over_another_time(tmp_path: Path) -> None:
    written_before(tmp_path)
    reader = sqlite3.connect(tmp_path / "gofer.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM keys").fetchall()
    with pytest.raises(TemporaryError, match="stop it, then start"), open_state(tmp_path, SetClock()):
        pass
    reader.close()
    with open_state(tmp_path, SetClock()) as state:
        assert await state.store.key("kept") == KEY


def test_only_a_process_that_serves_takes_over_a_database_of_before(tmp_path: Path) -> None:
    written_before(tmp_path)
    with pytest.raises(Corrupt, match="start `gofer serve` or `gofer demo` once"), read_state(tmp_path, SetClock()):
        pass
    with closing(sqlite3.connect(tmp_path / "gofer.db")) as connection:
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (2,)


def test_a_new_database_has_the_version_of_this_gofer(tmp_path: Path) -> None:
    with open_state(tmp_path, SetClock()):
        pass
    with closing(sqlite3.connect(tmp_path / "gofer.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


async def test_a_claim_without_a_head_is_found_by_the_age_of_its_key(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("listed", b"one", KEY, 5)
        await store.claim("unlisted", b"one", KEY, 5)
        await store.create_head(Head("listed", "w", "c", 5))
        assert list(await store.unlisted(6, 10)) == ["unlisted"]
