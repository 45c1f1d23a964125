"""Backup and restore: contents, sealing, and the state after a restore."""

import asyncio
import json
import os
import re
import sqlite3
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from gofer.app.backup.backup_manifest import NAME, SEALED
from gofer.app.backup.restore import RestoredState, restore_backup
from gofer.app.backup.sealed_keys import seal, unseal
from gofer.app.backup.take import BackedUp, take_backup
from gofer.app.embedded.integrity import RESTORING, unclean_until_closed
from gofer.app.embedded.state import State, installation_key, open_state, serving
from gofer.app.embedded.state_files import LOCK, write_secret
from gofer.app.embedded.worlds import EVALS
from gofer.evals import history
from gofer.journal.blob_store import blob_key
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted, RunFinished
from gofer.journal.log import Pen, claim, open_journal, read_journal
from gofer.runtime.restored_memo import restored_from
from gofer.runtime.retention import delete
from gofer.runtime.run_retry import retry
from gofer.values.errors import ConfigError, Corrupt, Gone
from gofer.values.secret import Secret
from support.evals.past_runs import past
from support.stand_ins import NOON, SetClock, make_outside, mention

QUICK = 4
"""A low cost of key derivation, to keep the tests fast."""
PASSPHRASE = Secret("correct horse battery staple")
DAY = 86_400
WORDS = "words that only colleagues read"

T = TypeVar("T")


def quiet(_done: int, _total: int) -> None:
    pass


class Folder:
    """A GOFER_DATA folder with runs, and the folder of its backup."""

    def __init__(self, root: Path) -> None:
        self.clock = SetClock()
        self.data = root / "state"
        self.backup = root / "backup"
        self.restored = root / "restored"

    def act(self, work: Callable[[State], Awaitable[T]], data: Path | None = None) -> T:
        async def opened() -> T:
            with open_state(data or self.data, self.clock) as state:
                installation_key(data or self.data)
                return await work(state)

        return asyncio.run(opened())

    async def begin(self, state: State, run: str, *, private: bool = False, listed: bool = True) -> None:
        """Claim a run that asks for something, with a body of its own."""
        pen = Pen("ingress", make_outside(self.clock))
        event = replace(mention(text=WORDS), identity=(run,), private=private)
        await claim(run, RunAccepted(event, "answer-here"), pen, state.store, state.blobs)
        journal, _ = await open_journal(run, state.store, state.blobs, pen)
        await journal.keep(WORDS.encode() * 1_000)
        if listed:
            at = int(self.clock.now() * 1000)
            await state.store.create_head(Head(run, "answer-here", run, at, private=private, frames=1))

    async def end(self, state: State, run: str, *, told: bool = True) -> None:
        """Write the end of a run into its journal, and optionally into its head."""
        pen = Pen("owner", make_outside(self.clock))
        journal, _ = await open_journal(run, state.store, state.blobs, pen)
        journal.add(RunFinished("done"))
        await journal.commit()
        head = await state.store.head(run)
        assert head is not None
        if told:
            await state.store.put_head(head.now("done", int(self.clock.now() * 1000), frames=2))

    def take(self, folder: Path | None = None) -> BackedUp:
        return take_backup(self.data, folder or self.backup, PASSPHRASE, self.clock, quiet, work=QUICK)

    def restore(self, passphrase: Secret = PASSPHRASE) -> RestoredState:
        return restore_backup(self.backup, self.restored, passphrase, self.clock, quiet)

    def head(self, run: str) -> Head | None:
        return self.act(lambda state: state.store.head(run), self.restored)

    def status(self, run: str) -> tuple[str, str]:
        head = self.head(run)
        assert head is not None
        return head.status, head.reason

    def texts(self, run: str) -> list[str]:
        """Return the texts of the events in the restored journal of a run."""

        async def read(state: State) -> list[str]:
            entries = await read_journal(run, state.store, state.blobs)
            return [one.entry.event.text for one in entries if isinstance(one.entry, RunAccepted)]

        return self.act(read, self.restored)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@contextmanager
def served(folder: Folder) -> Iterator[State]:
    """Open the folder as a serving Gofer does."""
    with serving(folder.data), open_state(folder.data, folder.clock) as state, unclean_until_closed(folder.data):
        installation_key(folder.data)
        yield state


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != LOCK}


def every_byte(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_restored_state_equals_the_backed_up_state(folder: Folder) -> None:
    async def fill(state: State) -> None:
        await folder.begin(state, "ended")
        await folder.end(state, "ended")

    folder.act(fill)
    key = (folder.data / "installation.key").read_text()
    assert folder.take().runs == 1
    assert folder.restore() == RestoredState(int(NOON * 1000), 0, 0, [])
    assert (folder.restored / "installation.key").read_text() == key
    assert folder.status("ended") == ("done", "")
    assert folder.texts("ended") == [WORDS]


def test_scores_of_evals_are_in_the_backup_and_their_runs_are_not(folder: Folder) -> None:
    async def fill(state: State) -> None:
        await folder.begin(state, "ended")
        await folder.end(state, "ended")

    folder.act(fill)
    evals = folder.data / EVALS
    folder.act(fill, evals)
    history.append(evals, past())
    assert folder.take().runs == 1
    folder.restore()
    assert history.read(folder.restored / EVALS, "answers/basic") == [past()]
    assert [path.name for path in (folder.restored / EVALS).iterdir()] == [history.FOLDER]
    assert folder.texts("ended") == [WORDS]


def test_backup_during_serving_is_a_consistent_snapshot(folder: Folder) -> None:
    async def serve() -> None:
        with served(folder) as state:
            await folder.begin(state, "before")
            writing = asyncio.create_task(write(state))
            await asyncio.to_thread(folder.take)
            writing.cancel()

    async def write(state: State) -> None:
        for n in range(10_000):
            await folder.begin(state, f"during{n}")

    asyncio.run(serve())
    folder.restore()
    assert folder.texts("before") == [WORDS]
    heads = folder.act(lambda state: state.store.heads(10**6, private=True), folder.restored)
    for head in heads:
        assert folder.texts(head.run) == [WORDS]


def test_backup_reveals_no_key_secret_or_content_without_the_passphrase(folder: Folder) -> None:
    async def fill(state: State) -> tuple[bytes | None, bytes | None]:
        await folder.begin(state, "open")
        await folder.begin(state, "secret", private=True)
        return await state.store.key("open"), await state.store.key("secret")

    keys = folder.act(fill)
    write_secret(folder.data / "notion-verification-token", "secret_of_notion_0123456789")
    folder.take()
    raw = every_byte(folder.backup)
    for key in keys:
        assert key is not None
        for form in (key, key.hex().encode(), b64encode(key), key[:32], key[32:]):
            assert form not in raw
    assert (folder.data / "installation.key").read_bytes() not in raw
    assert b"secret_of_notion" not in raw
    assert WORDS.encode() not in raw
    assert {path.stat().st_mode & 0o077 for path in folder.backup.rglob("*")} == {0}
    with pytest.raises(ConfigError, match="The passphrase does not open the backup"):
        folder.restore(Secret("another one"))
    assert not folder.restored.exists()


def test_unfinished_run_needs_a_retry_after_a_restore(folder: Folder) -> None:
    async def fill(state: State) -> None:
        for run in ("queued", "running", "parked", "secret", "claimed"):
            await folder.begin(state, run, private=run == "secret", listed=run != "claimed")
            await state.queue.enqueue(run)
        for run in ("running", "parked"):
            head = await state.store.head(run)
            assert head is not None
            await state.store.put_head(head.now("running" if run == "running" else "parked", 1, wakes_at=10**13))
        await state.store.lease("running", "dead owner", NOON, 10**6)

    folder.act(fill)
    folder.take()
    folder.clock.advance(60)
    held = folder.restore().held
    assert sorted(head.run for head in held) == ["claimed", "parked", "queued", "running", "secret"]
    for run in ("queued", "running", "parked", "claimed"):
        status, reason = folder.status(run)
        assert (status, reason[:9]) == ("needs_attention", "restored:")
        assert "2026-11-21 12:00 UTC is unknown; continue it with gofer retry" in reason
    # The head of a private run keeps only its status.
    assert folder.status("secret") == ("needs_attention", "")

    async def look(state: State) -> None:
        assert await state.store.unfinished(2**62, 10) == []
        assert await state.queue.receive(10, 60, 0) == []
        assert await state.store.oldest_runnable("queued") is None
        assert await state.store.lease("running", "new owner", folder.clock.now(), 60)
        # A second delivery of the same event is a duplicate, and does not begin it.
        await state.store.create_head(Head("claimed", "answer-here", "claimed", 1))
        assert await state.store.oldest_runnable("claimed") is None
        told = await retry("queued", state.stores, folder.clock, "operator")
        assert told.enqueued
        assert "backup of 2026-11-21 12:00 UTC" in told.message
        queued = await state.store.head("queued")
        assert queued is not None
        assert await state.store.oldest_runnable(queued.conversation) is not None
        assert [queue_message.run for queue_message in await state.queue.receive(10, 60, 0)] == ["queued"]

    folder.act(look, folder.restored)


def test_restore_deletes_runs_past_the_retention_time(folder: Folder) -> None:
    async def fill(state: State) -> None:
        for run in ("old", "young", "secret", "kept"):
            await folder.begin(state, run, private=run == "secret")
            await folder.end(state, run, told=run != "secret")
        await state.store.retain("kept", "due", "kept")

    folder.act(fill)
    folder.take()
    folder.clock.advance(31 * DAY)
    assert folder.restore().deleted == 3
    for run in ("old", "young", "secret"):
        assert folder.head(run) is None
        assert folder.texts(run) == []
        assert not (folder.restored / "blobs" / run).exists()
    assert folder.texts("kept") == [WORDS]


def test_restore_deletes_a_finished_private_run_with_an_outdated_head(folder: Folder) -> None:
    async def fill(state: State) -> None:
        await folder.begin(state, "secret", private=True)
        await folder.end(state, "secret", told=False)

    folder.act(fill)
    folder.take()
    assert folder.restore() == RestoredState(int(NOON * 1000), 1, 0, [])
    with pytest.raises(Gone):
        folder.texts("secret")


def test_run_deleted_during_the_backup_is_gone_after_a_restore(folder: Folder) -> None:
    async def fill(state: State) -> None:
        for run in ("ended", "open"):
            await folder.begin(state, run)
        await folder.end(state, "ended")

    async def remove(state: State) -> None:
        await delete(["ended"], state.stores)
        await state.store.destroy_key("open")

    def deleting(done: int, total: int) -> None:
        """The bodies are copied after the database and before the keys."""
        if done == 1:
            folder.act(remove)

    folder.act(fill)
    take_backup(folder.data, folder.backup, PASSPHRASE, folder.clock, deleting, work=QUICK)
    assert folder.restore() == RestoredState(int(NOON * 1000), 0, 2, [])
    for run in ("ended", "open"):
        with pytest.raises(Gone):
            folder.texts(run)
        assert not any((folder.restored / "blobs" / run).glob("*"))


def test_restore_does_not_catch_up_on_schedules_missed_since_the_backup(folder: Folder) -> None:
    folder.act(lambda state: state.marks.write({"weekly-digest": int(NOON)}))
    folder.take()
    folder.clock.advance(7 * DAY)
    folder.restore()
    assert folder.act(lambda state: state.marks.read(), folder.restored) == {"weekly-digest": int(NOON) + 7 * DAY}


def test_backup_leaves_out_bodies_of_unclaimed_runs(folder: Folder) -> None:
    async def fill(state: State) -> None:
        await folder.begin(state, "run")
        await state.blobs.put(blob_key("never-claimed", b"body"), b"body")
        await state.blobs.put(blob_key("bundles", b"bundle"), b"bundle")

    folder.act(fill)
    folder.take()
    assert sorted(path.name for path in (folder.backup / "blobs").iterdir()) == ["bundles", "run"]


def test_backup_refuses_an_existing_folder_and_the_state_folder(folder: Folder) -> None:
    folder.act(lambda state: state.store.drop_leases())
    folder.take()
    for place, told in (
        (folder.backup, "exists already; name a new folder"),
        (folder.data / "backup", "must not contain each other; name another folder"),
        (folder.data.parent, "must not contain each other"),
    ):
        with pytest.raises(ConfigError, match=told):
            folder.take(place)


def test_backup_of_a_missing_state_is_refused(folder: Folder) -> None:
    with pytest.raises(ConfigError, match="There are no runs"):
        folder.take()
    assert not folder.backup.exists()


def test_backup_of_a_database_with_an_unreadable_page_is_refused(folder: Folder) -> None:
    async def fill(state: State) -> None:
        for n in range(40):
            await folder.begin(state, f"run{n:02}")

    folder.act(fill)
    raw = bytearray((folder.data / "gofer.db").read_bytes())
    with sqlite3.connect(folder.data / "gofer.db") as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'frames'").fetchone()
    connection.close()
    raw[(page - 1) * 4096 : page * 4096] = bytes(4096)
    (folder.data / "gofer.db").write_bytes(raw)
    with pytest.raises(Corrupt, match=r"gofer\.db cannot be copied, because a page .* Keep the backups that you have"):
        folder.take()
    assert not folder.backup.exists()


@pytest.mark.parametrize("name", [NAME, SEALED, "gofer.db", "blobs"])
@pytest.mark.parametrize("harm", ["missing", "changed", "cut"])
def test_restore_of_a_damaged_backup_is_refused_and_leaves_no_state(folder: Folder, name: str, harm: str) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    folder.take()
    path = folder.backup / name
    if name == "blobs":
        path = next(one for one in path.rglob("*") if one.is_file())
    raw = path.read_bytes()
    match harm:
        case "missing":
            path.unlink()
        case "cut":
            path.write_bytes(raw[: len(raw) // 2])
        case _:
            path.write_bytes(raw[:60] + bytes([raw[60] ^ 1]) + raw[61:])
    error: type[Exception] = Corrupt
    told = f"{re.escape(str(path))} is missing or damaged; restore an earlier backup"
    if name == NAME:
        error = ConfigError
        told = f"{NAME} is missing" if harm == "missing" else "was changed"
    with pytest.raises(error, match=told):
        folder.restore()
    assert not folder.restored.exists() or {path.name for path in folder.restored.iterdir()} <= {"serving.lock"}


def test_restore_refuses_a_mix_of_two_backups(folder: Folder) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    folder.take()
    earlier = json.loads((folder.backup / NAME).read_text())
    folder.backup.rename(folder.backup.with_name("first"))
    folder.act(lambda state: folder.begin(state, "later"))
    folder.take()
    later = json.loads((folder.backup / NAME).read_text())
    (folder.backup / SEALED).write_bytes((folder.backup.with_name("first") / SEALED).read_bytes())
    (folder.backup / NAME).write_text(json.dumps({**later, "sealed": earlier["sealed"]}))
    with pytest.raises(ConfigError, match="or the backup was changed"):
        folder.restore()


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "blobs/../../outside"])
def test_restore_refuses_a_manifest_with_a_path_outside_the_backup(folder: Folder, name: str) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    folder.take()
    manifest = json.loads((folder.backup / NAME).read_text())
    manifest["files"][name] = manifest["files"]["gofer.db"]
    (folder.backup / NAME).write_text(json.dumps(manifest))
    with pytest.raises(ConfigError, match="was changed"):
        folder.restore()


def test_restore_refuses_a_folder_in_use_or_not_empty(folder: Folder) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    folder.take()
    folder.restored = folder.data
    before = contents(folder.data)
    with pytest.raises(ConfigError, match="is not empty; move it away"):
        folder.restore()
    with serving(folder.data), pytest.raises(ConfigError, match="Another Gofer serves"):
        folder.restore()
    assert contents(folder.data) == before


def test_interrupted_restore_blocks_serving_and_can_be_repeated(folder: Folder) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    folder.take()
    (folder.restored / RESTORING).mkdir(parents=True)
    (folder.restored / "blobs").mkdir()
    with pytest.raises(ConfigError, match="did not finish; run `gofer restore`"):
        folder.head("run")
    folder.restore()
    assert folder.texts("run") == [WORDS]
    assert restored_known(folder) == int(NOON * 1000)


def restored_known(folder: Folder) -> int:
    return folder.act(lambda state: restored_from("run", state.store), folder.restored)


def test_concurrent_backup_into_the_same_folder_is_refused(folder: Folder) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    refused: list[str] = []

    def meanwhile(_done: int, _total: int) -> None:
        try:
            folder.take()
        except ConfigError as error:
            refused.append(str(error))

    take_backup(folder.data, folder.backup, PASSPHRASE, folder.clock, meanwhile, work=QUICK)
    assert refused
    assert "Another `gofer backup` is writing" in refused[0]
    folder.restore()


def test_backup_without_usable_keys_is_refused(folder: Folder) -> None:
    folder.act(lambda state: folder.begin(state, "run"))
    key = folder.data / "installation.key"
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(ConfigError, match=r"installation\.key is missing, and Gofer would answer old mentions again"):
        folder.take()
    key.write_bytes(kept)
    for content in (None, b"", b"nonsense"):
        (folder.data / "used").unlink(missing_ok=True)
        (folder.data / "keys").unlink()
        if content is not None:
            (folder.data / "keys").write_bytes(content)
        with pytest.raises(ConfigError, match=r"/keys is .*, and without it no run in .* can be read"):
            folder.take()
        (folder.data / "keys").touch()
    assert not folder.backup.exists()


def test_restored_database_holds_no_conversation_or_person_in_clear(folder: Folder) -> None:
    async def fill(state: State) -> None:
        for run in ("listed", "claimed"):
            await folder.begin(state, run, listed=run == "listed")

    folder.act(fill)
    folder.take()
    assert len(folder.restore().held) == 2
    event = mention()
    raw = (folder.restored / "gofer.db").read_bytes()
    for name in (event.conversation, event.conversation.rpartition(":")[0], event.actor.id):
        assert name
        assert name.encode() not in raw


def test_sealed_keys_fix_a_high_cost_of_guessing_the_passphrase() -> None:
    sealed = seal({"keys": b"1"}, PASSPHRASE, b"bound", os.urandom)
    header = sealed.index(b"\n") + 1
    assert sealed[header] >= 17
    assert unseal(sealed, PASSPHRASE, b"bound") == {"keys": b"1"}
    with pytest.raises(ConfigError, match="are damaged"):
        unseal(sealed[:header] + b"\xff" + sealed[header + 1 :], PASSPHRASE, b"bound")
