"""Backup and restore killed at any file system call: the result is complete or refused.

The process kills itself with SIGKILL right before one of its file system calls.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.backup.restore import restore_backup
from gofer.app.backup.take import PARTIAL, take_backup
from gofer.app.embedded.state import installation_key, open_state, read_state
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim, open_journal, read_journal
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from support.crashes.spread import spread
from support.stand_ins import SetClock, make_outside, mention

QUICK = 4
"""A low cost of key derivation, to keep the tests fast."""
PASSPHRASE = Secret("correct horse battery staple")
ASKED = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "sqlite3.connect")
"""File system calls, by the names of Python's audit events."""
RUNS = ("run1", "run2", "secret")
KILLED = -signal.SIGKILL


def quiet(_done: int, _total: int) -> None:
    pass


async def fill(data: Path) -> None:
    """A state with unfinished runs, one of them private, each with a body."""
    clock = SetClock()
    with open_state(data, clock) as state:
        installation_key(data)
        for run in RUNS:
            pen = Pen("ingress", make_outside(clock))
            event = replace(mention(text=f"the words of {run}"), identity=(run,), private=run == "secret")
            await claim(run, RunAccepted(event, "answer-here"), pen, state.store, state.blobs)
            journal, _ = await open_journal(run, state.store, state.blobs, pen)
            await journal.keep(run.encode() * 1_000)
            await state.store.create_head(Head(run, "answer-here", run, 1, private=run == "secret", frames=1))


def backup(root: Path) -> None:
    take_backup(root / "state", root / "backup", PASSPHRASE, SetClock(), quiet, work=QUICK)


def restore(root: Path) -> None:
    restore_backup(root / "backup", root / "restored", PASSPHRASE, SetClock(), quiet)


def forked(work: Callable[[Path], None], root: Path, die_at: int = 0) -> tuple[int, int]:
    """Do the work in a forked process; return its exit code and its number of file system calls."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _live(work, root, die_at, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        asked = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), int(asked or 0)


def _live(work: Callable[[Path], None], root: Path, die_at: int, writing: int) -> None:
    count = 0

    def ask(event: str, _arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event in ASKED:
            count += 1
            if count == die_at:
                os.kill(os.getpid(), signal.SIGKILL)

    code = 1
    try:
        sys.addaudithook(ask)
        work(root)
        code = 0
    finally:
        os.write(writing, str(count).encode())
        os._exit(code)


def texts(data: Path) -> Sequence[str]:
    async def read() -> list[str]:
        with read_state(data, SetClock()) as state:
            found = [await read_journal(run, state.store, state.blobs) for run in RUNS]
        return [one[0].entry.event.text for one in found if isinstance(one[0].entry, RunAccepted)]

    return asyncio.run(read())


WORDS = [f"the words of {run}" for run in RUNS]


def test_killed_backup_is_complete_or_refused_by_a_restore(tmp_path: Path, everywhere: bool) -> None:
    asyncio.run(fill(tmp_path / "state"))
    code, asked = forked(backup, tmp_path)
    assert (code, asked > 20) == (0, True)
    shutil.rmtree(tmp_path / "backup")
    for n in spread(everywhere, range(1, asked + 1), 5):
        assert forked(backup, tmp_path, n)[0] == KILLED
        if (tmp_path / "backup").exists():
            # Killed after the final rename: the backup is complete.
            assert forked(restore, tmp_path)[0] == 0
            assert texts(tmp_path / "restored") == WORDS
            shutil.rmtree(tmp_path / "restored")
            shutil.rmtree(tmp_path / "backup")
        if (tmp_path / f"backup{PARTIAL}").exists():
            with pytest.raises(ConfigError):
                restore_backup(tmp_path / f"backup{PARTIAL}", tmp_path / "restored", Secret("wrong"), SetClock(), quiet)
    assert forked(backup, tmp_path)[0] == 0
    assert not (tmp_path / f"backup{PARTIAL}").exists()
    assert forked(restore, tmp_path)[0] == 0
    assert texts(tmp_path / "restored") == WORDS
    assert texts(tmp_path / "state") == WORDS


def test_killed_restore_is_complete_or_refused_and_can_be_repeated(tmp_path: Path, everywhere: bool) -> None:
    asyncio.run(fill(tmp_path / "state"))
    backup(tmp_path)
    code, asked = forked(restore, tmp_path)
    assert (code, asked > 20) == (0, True)
    for n in spread(everywhere, range(1, asked + 1), 5):
        root = tmp_path / f"killed{n}"
        root.mkdir()
        (root / "backup").symlink_to(tmp_path / "backup")
        assert forked(restore, root, n)[0] == KILLED
        if (root / "restored" / "gofer.db").exists() and not (root / "restored" / "restoring").exists():
            assert texts(root / "restored") == WORDS
            continue
        with pytest.raises(ConfigError):
            texts(root / "restored")
        assert forked(restore, root)[0] == 0
        assert texts(root / "restored") == WORDS
