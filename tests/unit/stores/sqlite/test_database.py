import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest

from gofer.stores.sqlite import journal, queue, schedule_marks
from gofer.stores.sqlite.database import VERSION, Database
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


async def test_database_row_is_visible_to_another_connection_when_the_job_returns(path: Path) -> None:
    database = Database(path, SCHEMA)
    assert await database.run(add("one")) == 1
    # Another connection sees the row before this one is closed.
    other = sqlite3.connect(path)
    assert other.execute("SELECT text FROM notes").fetchall() == [("one",)]
    other.close()
    database.close()


async def test_database_log_survives_another_process_that_closes_last(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(add("one"))
    # Opening the file a second time in this process must not drop the locks of the first.
    Database(path, SCHEMA).close()
    read = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM notes').fetchall()"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", f"{read}; db.close()", str(path))
    assert await process.wait() == 0
    assert path.with_name(f"{path.name}-wal").exists()
    database.close()


async def test_database_uses_wal_with_full_sync_and_secure_delete(path: Path) -> None:
    database = Database(path, SCHEMA)
    read = [
        await database.run(lambda connection, name=name: connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("journal_mode", "synchronous", "secure_delete")
    ]
    assert read == ["wal", 2, 1]
    database.close()


async def test_existing_database_keeps_its_page_size(path: Path) -> None:
    earlier = sqlite3.connect(path)
    earlier.executescript(f"PRAGMA page_size=4096; {SCHEMA} PRAGMA user_version={VERSION};")
    earlier.close()
    database = Database(path, SCHEMA)
    assert await database.run(add("one")) == 1
    assert await database.run(lambda connection: connection.execute("PRAGMA page_size").fetchone()[0]) == 4096
    database.close()


async def test_database_of_a_new_installation_takes_less_than_40_kilobytes(tmp_path: Path) -> None:
    Database(tmp_path / "gofer.db", journal.SCHEMA + queue.SCHEMA + schedule_marks.SCHEMA).close()
    assert (tmp_path / "gofer.db").stat().st_size < 40_000


async def test_concurrent_database_jobs_share_commits(path: Path) -> None:
    database = Database(path, SCHEMA)
    commits: list[str] = []
    await database.run(lambda connection: connection.set_trace_callback(commits.append))
    await asyncio.gather(*(database.run(add(str(n))) for n in range(200)))
    assert await database.run(count) == 200
    assert commits.count("COMMIT") < 100
    database.close()


async def test_failed_database_job_is_rolled_back_alone(path: Path) -> None:
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


async def test_single_write_that_fails_is_undone_alone_and_without_a_savepoint(path: Path) -> None:
    database = Database(path, SCHEMA)
    statements: list[str] = []
    await database.run(lambda connection: connection.set_trace_callback(statements.append))
    twice = "INSERT INTO notes VALUES (1, 'first'), (1, 'second')"
    results = await asyncio.gather(
        database.run(add("before"), savepoint=False),
        database.run(lambda connection: connection.execute(twice).rowcount, savepoint=False),
        database.run(add("after"), savepoint=False),
        return_exceptions=True,
    )
    assert isinstance(results[1], sqlite3.IntegrityError)
    read = "SELECT text FROM notes"
    texts = await database.run(lambda connection: connection.execute(read).fetchall(), savepoint=False)
    assert sorted(texts) == [("after",), ("before",)]
    # The job that set the callback still releases its own.
    assert [one for one in statements if "SAVEPOINT" in one or one.startswith("RELEASE")] == ["RELEASE job"]
    database.close()


async def test_full_disk_fails_the_write_and_the_database_recovers_when_there_is_room(path: Path) -> None:
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


async def test_database_works_on_after_a_commit_without_memory(path: Path) -> None:
    database = Database(path, SCHEMA)
    lacking = [MemoryError()]

    def sync() -> None:
        if lacking:
            raise lacking.pop()

    database.sync_first(sync)
    with pytest.raises(TemporaryError, match="too little memory is free"):
        await database.run(add("lost"))
    await database.run(add("kept"))
    assert await database.run(count) == 1
    database.close()


async def test_database_job_without_memory_fails_alone_and_may_be_repeated(path: Path) -> None:
    database = Database(path, SCHEMA)

    def lacks(connection: sqlite3.Connection) -> None:
        raise MemoryError

    lost, kept = await asyncio.gather(database.run(lacks), database.run(add("kept")), return_exceptions=True)
    assert isinstance(lost, TemporaryError)
    assert kept == 1
    assert await database.run(count) == 1
    database.close()


async def test_full_disk_error_advises_to_free_space(path: Path) -> None:
    database = Database(path, SCHEMA)
    pages = await database.run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    await database.run(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())
    with pytest.raises(TemporaryError, match=r"notes\.db was refused .*full.* nothing was written; free some space"):
        await database.run(add("x" * 100_000))
    database.close()


async def test_read_only_database_error_advises_to_mount_the_file_system_for_writing(path: Path) -> None:
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
async def test_each_disk_error_of_the_database_has_advice(path: Path, code: int, advice: str) -> None:
    database = Database(path, SCHEMA)

    def refuse(connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        raise error

    with pytest.raises(TemporaryError, match=rf"notes\.db was refused .* nothing was written; {advice}"):
        await database.run(refuse)
    database.close()


async def test_database_with_changed_pages_is_reported_corrupt_with_advice(path: Path) -> None:
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


async def test_file_of_plain_text_is_reported_corrupt_as_a_database(path: Path) -> None:
    path.write_bytes(b"These are not the pages of a database." * 200)
    before = path.read_bytes()
    with pytest.raises(Corrupt, match="file is not a database"):
        Database(path, SCHEMA)
    assert path.read_bytes() == before


async def test_database_with_an_undecodable_name_in_the_schema_is_reported_corrupt(path: Path) -> None:
    """The message of SQLite is not decodable either, so Python raises its own error."""
    database = Database(path, SCHEMA)
    await database.run(lambda connection: connection.execute("CREATE INDEX by_text ON notes (text)").fetchall())
    database.close()
    raw = path.read_bytes()
    assert raw.count(b"by_text") == 2
    path.write_bytes(raw.replace(b"by_text", b"by_t\xf2xt", 1))
    with pytest.raises(Corrupt, match="restore the file"):
        Database(path, SCHEMA)


async def test_undecodable_text_value_fails_the_job_alone_and_is_not_shown(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(lambda connection: connection.execute("INSERT INTO notes (text) VALUES (CAST(x'50ff' AS TEXT))"))
    read = database.run(lambda connection: connection.execute("SELECT text FROM notes").fetchall())
    results = await asyncio.gather(database.run(add("two")), read, return_exceptions=True)
    assert results[0] == 2
    assert isinstance(results[1], Corrupt)
    assert "a value is not what was written" in str(results[1])
    database.close()


async def test_missing_column_is_reported_corrupt_and_not_as_a_full_disk(path: Path) -> None:
    database = Database(path, SCHEMA)
    with pytest.raises(Corrupt, match="no such column"):
        await database.run(lambda connection: connection.execute("SELECT mood FROM notes").fetchall())
    assert await database.run(add("goes on")) == 1
    database.close()


async def test_statement_that_breaks_a_constraint_fails_alone(path: Path) -> None:
    database = Database(path, SCHEMA)
    await database.run(add("one"))
    twice = database.run(lambda connection: connection.execute("INSERT INTO notes (id) VALUES (1)"))
    results = await asyncio.gather(database.run(add("two")), twice, return_exceptions=True)
    assert results[0] == 2
    assert isinstance(results[1], sqlite3.IntegrityError)
    assert await database.run(count) == 2
    database.close()


async def test_database_that_cannot_be_opened_advises_to_check_the_folder(tmp_path: Path) -> None:
    with pytest.raises(TemporaryError, match="check the folder"):
        Database(tmp_path / "no" / "such" / "folder.db", SCHEMA)


async def test_database_finishes_accepted_jobs_on_close_and_refuses_later_jobs(path: Path) -> None:
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


async def test_database_of_an_earlier_version_is_refused_and_left_unchanged(path: Path) -> None:
    with sqlite3.connect(path) as older:
        older.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    older.close()
    before = path.read_bytes()
    with pytest.raises(Corrupt, match="was written by an earlier version of Gofer \\(format"):
        Database(path, SCHEMA)
    assert path.read_bytes() == before


async def test_emptying_the_database_log_keeps_every_row(path: Path) -> None:
    database = Database(path, SCHEMA)
    log = path.with_name("notes.db-wal")
    # The log is emptied last, because a later job would write to it again.
    await asyncio.gather(database.run(add("one")), database.run(add("two")), database.empty_log())
    assert log.stat().st_size == 0
    assert await database.run(count) == 2
    database.close()
