import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest

from gofer.stores.sqlite.database import Database
from gofer.values.errors import Corrupt, TemporaryError

pytestmark = pytest.mark.anyio

SCHEMA = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT);"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


def add(text: str):
    return lambda connection: connection.execute("INSERT INTO notes (text) VALUES (?)", (text,)).lastrowid


def count(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT count(*) FROM notes").fetchone()[0]


async def test_what_was_returned_is_on_the_disk(path: Path) -> None:
    database = Database(path, SCHEMA)
    assert await database.run(add("one")) == 1
    # Another connection sees it before this one is closed.
    other = sqlite3.connect(path)
    assert other.execute("SELECT text FROM notes").fetchall() == [("one",)]
    other.close()
    database.close()


async def test_another_process_that_closes_last_leaves_the_log_of_one_that_goes_on(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(add("one"))
    # A second look at the file by this process must not drop the locks of the first.
    Database(path, SCHEMA).close()
    read = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM notes').fetchall()"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", f"{read}; db.close()", str(path))
    assert await process.wait() == 0
    assert path.with_name(f"{path.name}-wal").exists()
    database.close()


async def test_a_commit_waits_for_the_disk(path: Path) -> None:
    database = Database(path, SCHEMA)
    read = [
        await database.run(lambda connection, name=name: connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("journal_mode", "synchronous", "secure_delete")
    ]
    assert read == ["wal", 2, 1]
    database.close()


async def test_many_writers_share_commits(path: Path) -> None:
    database = Database(path, SCHEMA)
    commits: list[str] = []
    await database.run(lambda connection: connection.set_trace_callback(commits.append))
    await asyncio.gather(*(database.run(add(str(n))) for n in range(200)))
    assert await database.run(count) == 200
    assert commits.count("COMMIT") < 100
    database.close()


async def test_a_job_that_fails_is_undone_and_the_others_are_not(path: Path) -> None:
    database = Database(path, SCHEMA)

    def half(connection: sqlite3.Connection) -> None:
        add("half")(connection)
        raise KeyError("mistake")

    results = await asyncio.gather(
        database.run(add("before")), database.run(half), database.run(add("after")), return_exceptions=True
    )
    assert isinstance(results[1], KeyError)
    texts = await database.run(lambda connection: connection.execute("SELECT text FROM notes").fetchall())
    assert sorted(texts) == [("after",), ("before",)]
    database.close()


async def test_a_full_disk_writes_nothing_says_so_and_goes_on_when_there_is_room(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(add("fits"))
    pages = await database.run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    await database.run(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())
    with pytest.raises(TemporaryError, match="nothing was written"):
        await database.run(add("x" * 100_000))
    assert await database.run(count) == 1
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count=100000").fetchall())
    await database.run(add("x" * 100_000))
    assert await database.run(count) == 2
    database.close()


async def test_a_full_disk_says_that_there_is_no_room(path: Path) -> None:
    database = Database(path, SCHEMA)
    pages = await database.run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    await database.run(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())
    with pytest.raises(TemporaryError, match=r"notes\.db was refused .*full.* nothing was written; free some space"):
        await database.run(add("x" * 100_000))
    database.close()


async def test_a_file_that_may_not_be_written_says_who_has_to_do_what(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(lambda connection: connection.execute("PRAGMA query_only=ON").fetchall())
    with pytest.raises(TemporaryError, match=r"readonly database.* nothing was written; mount its file system for"):
        await database.run(add("one"))
    database.close()


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (sqlite3.SQLITE_IOERR_READ, "the disk failed to read"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "mount its file system for writing"),
        (sqlite3.SQLITE_BUSY, "another process writes to it; try again"),
        (sqlite3.SQLITE_NOMEM, "check the disk"),
    ],
)
async def test_each_refusal_of_the_disk_says_what_to_do(path: Path, code: int, advice: str) -> None:
    database = Database(path, SCHEMA)

    def refuse(connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        raise error

    with pytest.raises(TemporaryError, match=rf"notes\.db was refused .* nothing was written; {advice}"):
        await database.run(refuse)
    database.close()


async def test_a_file_with_changed_pages_says_that_it_is_damaged_and_what_to_do(path: Path) -> None:
    database = Database(path, SCHEMA)
    for n in range(50):
        await database.run(add(f"{n}" * 400))
    database.close()
    raw = bytearray(path.read_bytes())
    raw[2 * 4096 : 4 * 4096] = bytes(range(256)) * 32
    path.write_bytes(raw)
    database = Database(path, SCHEMA)
    with pytest.raises(Corrupt, match=r"cannot be read \(database disk image is malformed\); stop Gofer and restore"):
        await database.run(lambda connection: connection.execute("SELECT * FROM notes").fetchall())
    database.close()


async def test_a_file_that_is_no_database_says_so_when_it_is_opened(path: Path) -> None:
    path.write_bytes(b"These are not the pages of a database." * 200)
    with pytest.raises(Corrupt, match="file is not a database"):
        Database(path, SCHEMA)


async def test_a_file_whose_table_has_no_readable_name_is_refused_and_nobody_waits_for_it(path: Path) -> None:
    """SQLite's message then is no text itself, and Python says that instead."""
    database = Database(path, SCHEMA)
    await database.run(lambda connection: connection.execute("CREATE INDEX by_text ON notes (text)").fetchall())
    database.close()
    raw = path.read_bytes()
    assert raw.count(b"by_text") == 2
    path.write_bytes(raw.replace(b"by_text", b"by_t\xf2xt", 1))
    with pytest.raises(Corrupt, match="restore the file"):
        Database(path, SCHEMA)


async def test_a_text_that_is_none_fails_alone_and_is_not_shown(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(lambda connection: connection.execute("INSERT INTO notes (text) VALUES (CAST(x'50ff' AS TEXT))"))
    read = database.run(lambda connection: connection.execute("SELECT text FROM notes").fetchall())
    results = await asyncio.gather(database.run(add("two")), read, return_exceptions=True)
    assert results[0] == 2
    assert isinstance(results[1], Corrupt)
    assert "a value is not what was written" in str(results[1])
    database.close()


async def test_a_file_of_another_shape_is_not_taken_for_a_full_disk(path: Path) -> None:
    database = Database(path, SCHEMA)
    with pytest.raises(Corrupt, match="no such column"):
        await database.run(lambda connection: connection.execute("SELECT mood FROM notes").fetchall())
    assert await database.run(add("goes on")) == 1
    database.close()


async def test_a_statement_that_breaks_a_rule_fails_alone(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(add("one"))
    twice = database.run(lambda connection: connection.execute("INSERT INTO notes (id) VALUES (1)"))
    results = await asyncio.gather(database.run(add("two")), twice, return_exceptions=True)
    assert results[0] == 2
    assert isinstance(results[1], sqlite3.IntegrityError)
    assert await database.run(count) == 2
    database.close()


async def test_a_file_that_cannot_be_opened_says_what_to_check(tmp_path: Path) -> None:
    with pytest.raises(TemporaryError, match="check the folder"):
        Database(tmp_path / "no" / "such" / "folder.db", SCHEMA)


async def test_work_accepted_before_closing_is_done_and_later_work_is_refused(path: Path) -> None:
    database = Database(path, SCHEMA)
    waiting = asyncio.gather(*(database.run(add(str(n))) for n in range(20)))
    await asyncio.sleep(0)
    database.close()
    await waiting
    with pytest.raises(TemporaryError, match="closed"):
        await database.run(count)
    with sqlite3.connect(path) as reopened:
        assert count(reopened) == 20
    reopened.close()


async def test_a_file_of_another_version_is_left_alone_and_says_so(path: Path) -> None:
    with sqlite3.connect(path) as older:
        older.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    older.close()
    before = path.read_bytes()
    with pytest.raises(Corrupt, match="was written by an earlier version of Gofer \\(format"):
        Database(path, SCHEMA)
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_says_so(path: Path) -> None:
    path.write_bytes(b"a letter to somebody" * 1000)
    with pytest.raises(Corrupt, match="file is not a database"):
        Database(path, SCHEMA)


async def test_an_emptied_log_holds_nothing_and_the_file_everything(path: Path) -> None:
    database = Database(path, SCHEMA)
    log = path.with_name("notes.db-wal")
    # In this order: what is asked for after the log was emptied would stand in it again.
    await asyncio.gather(database.run(add("one")), database.run(add("two")), database.empty_log())
    assert log.stat().st_size == 0
    assert await database.run(count) == 2
    database.close()
