"""Startup of a used state folder: a missing or foreign database, log or key file is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gofer.app.embedded.integrity import KEYS, LOG, UNCLEAN, USED
from gofer.app.embedded.state import installation_key, open_state, read_state, serving
from gofer.app.embedded.state_files import serving_elsewhere
from gofer.journal.blob_store import blob_key
from gofer.journal.coordination import Head
from gofer.values.errors import ConfigError
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

ANSWERED_AGAIN = "Gofer would answer old mentions again"


def use(data: Path) -> None:
    """Serve a folder once, without a run."""
    with open_state(data, SetClock()):
        installation_key(data)


def open_again(data: Path) -> None:
    with open_state(data, SetClock()):
        pass


def lose(data: Path) -> None:
    for path in data.glob("gofer.db*"):
        path.unlink()


def test_missing_database_beside_a_used_key_is_refused(tmp_path: Path) -> None:
    use(tmp_path)
    lose(tmp_path)
    for _ in range(2):
        with pytest.raises(ConfigError, match=rf"gofer\.db is missing, and .*{ANSWERED_AGAIN}.*`gofer restore`"):
            open_again(tmp_path)
    with pytest.raises(ConfigError, match="is missing"), read_state(tmp_path, SetClock()):
        pass
    assert not (tmp_path / "gofer.db").exists()


def test_empty_database_beside_a_used_key_is_refused(tmp_path: Path) -> None:
    use(tmp_path)
    lose(tmp_path)
    (tmp_path / "gofer.db").touch()
    with pytest.raises(ConfigError, match=rf"gofer\.db is empty, and .*{ANSWERED_AGAIN}"):
        open_again(tmp_path)


async def test_missing_run_keys_are_refused_once_there_is_a_run(tmp_path: Path) -> None:
    use(tmp_path)
    (tmp_path / KEYS).unlink(missing_ok=True)
    open_again(tmp_path)
    with open_state(tmp_path, SetClock()) as state:
        await state.store.claim("run1", b"frame", b"key")
    (tmp_path / KEYS).unlink()
    with pytest.raises(ConfigError, match=r"keys is missing, and without it no run in .* can be read.*`gofer restore`"):
        open_again(tmp_path)


def test_database_of_another_installation_is_refused(tmp_path: Path) -> None:
    use(tmp_path / "one")
    use(tmp_path / "two")
    (tmp_path / "two" / "gofer.db").rename(tmp_path / "one" / "gofer.db")
    with pytest.raises(ConfigError, match=r"gofer\.db is not the one that .*installation\.key was used with"):
        open_again(tmp_path / "one")


def test_database_recreated_without_rows_is_refused(tmp_path: Path) -> None:
    use(tmp_path / "one")
    open_again(tmp_path / "two")
    (tmp_path / "two" / "gofer.db").rename(tmp_path / "one" / "gofer.db")
    with pytest.raises(ConfigError, match="is not the one"):
        open_again(tmp_path / "one")


def test_unreadable_used_marker_is_reported(tmp_path: Path) -> None:
    use(tmp_path)
    (tmp_path / USED).unlink()
    (tmp_path / USED).mkdir()
    with pytest.raises(ConfigError, match=r"/used cannot be used \(Is a directory\); check the folder"):
        open_again(tmp_path)


def test_unused_installation_key_starts_with_a_new_database(tmp_path: Path) -> None:
    installation_key(tmp_path)
    open_again(tmp_path)


def test_used_folder_without_remaining_runs_is_opened(tmp_path: Path) -> None:
    for _ in range(3):
        use(tmp_path)


async def test_installation_without_a_used_marker_gets_one(tmp_path: Path) -> None:
    with open_state(tmp_path, SetClock()) as state:
        installation_key(tmp_path)
        await state.store.create_head(Head("r", "w", "c", 1))
    (tmp_path / USED).unlink()
    with sqlite3.connect(tmp_path / "gofer.db") as older:
        older.execute("PRAGMA application_id=0")
    older.close()
    use(tmp_path)
    lose(tmp_path)
    with pytest.raises(ConfigError, match="is missing"):
        open_again(tmp_path)


SERVE = """
import asyncio, sys
from pathlib import Path
from gofer.app.embedded.integrity import unclean_until_closed
from gofer.app.embedded.state import installation_key, open_state, serving
from gofer.journal.coordination import Head
from gofer.values.outside import SystemClock

async def serve(data):
    with serving(data), open_state(data, SystemClock()) as state, unclean_until_closed(data):
        installation_key(data)
        await state.store.create_head(Head("r", "w", "c", 1))
        print("serving", flush=True)
        sys.stdin.read()

asyncio.run(serve(Path(sys.argv[1])))
"""


def start(data: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVE), str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"serving\n"
    return process


def killed(data: Path) -> None:
    with start(data) as process:
        process.kill()
        process.communicate()


def test_missing_write_ahead_log_after_a_kill_is_refused(
    tmp_path: Path,
) -> None:
    killed(tmp_path)
    assert (tmp_path / LOG).exists()
    (tmp_path / LOG).unlink()
    with pytest.raises(ConfigError, match=r"gofer\.db-wal is missing. The last Gofer was killed.*Put the file"):
        open_again(tmp_path)
    (tmp_path / UNCLEAN).unlink()
    # The identity of the database was in the lost log, so it does not match the key.
    with pytest.raises(ConfigError, match="is not the one"):
        open_again(tmp_path)


def test_write_ahead_log_removed_by_a_clean_stop_is_not_missed(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        process.communicate(b"")
    assert not (tmp_path / LOG).exists()
    open_again(tmp_path)


def test_reader_after_a_kill_removes_the_write_ahead_log_and_the_unclean_marker(tmp_path: Path) -> None:
    killed(tmp_path)
    assert (tmp_path / UNCLEAN).exists()
    with read_state(tmp_path, SetClock()):
        pass
    assert not (tmp_path / LOG).exists()
    assert not (tmp_path / UNCLEAN).exists()
    open_again(tmp_path)


def test_stopped_process_that_holds_the_lock_is_reported_with_the_pid(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        try:
            told = rf"serves .* \(process {process.pid}, since .* UTC\); stop it"
            with pytest.raises(ConfigError, match=told), serving(tmp_path):
                pass
            os.kill(process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            told = rf"is frozen \(process {process.pid}, since .* stopped by a signal\).*`kill -CONT {process.pid}`"
            with pytest.raises(ConfigError, match=told), serving(tmp_path):
                pass
        finally:
            os.kill(process.pid, signal.SIGCONT)
            process.communicate(b"")


def test_lock_file_without_a_process_id_still_blocks_serving(tmp_path: Path) -> None:
    with serving(tmp_path):
        for content in ("", "nonsense", "999999999"):
            (tmp_path / "serving.lock").write_text(content)
            with pytest.raises(ConfigError, match=r"Another Gofer serves [^(]*; stop it"), serving(tmp_path):
                pass


def test_folder_with_a_deleted_lock_file_is_still_served_by_one_process(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        (tmp_path / "serving.lock").unlink()
        with pytest.raises(ConfigError, match=r"Another Gofer serves [^(]*; stop it"), serving(tmp_path):
            pass
        assert serving_elsewhere(tmp_path) == "a process that is not visible here"
        process.communicate(b"")
    assert serving_elsewhere(tmp_path) is None
    with serving(tmp_path):
        pass


async def claim(data: Path) -> None:
    with open_state(data, SetClock()) as state:
        await state.store.claim("run1", b"frame", b"key")


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "is empty"), (b"nonsense", "is not a file of keys"), (bytes(512), "is not a file of keys")],
)
async def test_ruined_run_keys_are_refused(tmp_path: Path, content: bytes, told: str) -> None:
    use(tmp_path)
    await claim(tmp_path)
    (tmp_path / KEYS).write_bytes(content)
    with pytest.raises(ConfigError, match=rf"/keys {told}, and without it no run in .* can be read.*`gofer restore`"):
        open_again(tmp_path)


def test_empty_key_file_without_runs_is_accepted(tmp_path: Path) -> None:
    use(tmp_path)
    (tmp_path / KEYS).touch()
    open_again(tmp_path)


async def test_missing_database_and_marker_are_refused_while_keys_or_bodies_remain(tmp_path: Path) -> None:
    use(tmp_path)
    await claim(tmp_path)
    with open_state(tmp_path, SetClock()) as state:
        await state.blobs.put(blob_key("run1", b"body"), b"body")
    lose(tmp_path)
    (tmp_path / USED).unlink()
    with pytest.raises(ConfigError, match=rf"gofer\.db is missing, and .*{ANSWERED_AGAIN}"):
        open_again(tmp_path)
    (tmp_path / KEYS).unlink()
    with pytest.raises(ConfigError, match=rf"gofer\.db is missing, and .*{ANSWERED_AGAIN}"):
        open_again(tmp_path)


@pytest.mark.parametrize("name", ["gofer.db", LOG])
def test_database_file_deleted_under_a_running_gofer_is_not_blamed_on_a_kill(tmp_path: Path, name: str) -> None:
    with start(tmp_path) as process:
        (tmp_path / name).rename(tmp_path / "moved")
        told = rf"{name} is missing, and the Gofer that serves .* \(process {process.pid}, since .*Stop that Gofer"
        with pytest.raises(ConfigError, match=told), read_state(tmp_path, SetClock()):
            pass
        if name == "gofer.db":
            (tmp_path / "moved").rename(tmp_path / name)
        process.communicate(b"")
    open_again(tmp_path)
