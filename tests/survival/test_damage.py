"""Damaged or newer state: changed, cut, swapped and newer bytes are reported, and never read as a shorter journal.

The specimen is the state of real runs; each test damages copies of it.
"""

import asyncio
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gofer.cli.main import main
from gofer.journal.codec import to_json
from gofer.journal.coordination import Head
from gofer.journal.entries import FORMAT, Recorded, RunOwned
from gofer.journal.frames import GENESIS, Frame, frame_hash, open_chain
from gofer.journal.log import read_journal
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.sqlite import journal as journal_sqlite
from gofer.stores.sqlite import queue as queue_sqlite
from gofer.stores.sqlite.blobs import DirectoryBlobs
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.values.errors import Corrupt, TemporaryError
from support.app.company import Company, ask_about_the_decision, company
from support.crashes.spread import spread
from support.journal.stored_bytes import frame_bytes

pytestmark = pytest.mark.anyio

SCHEMA = journal_sqlite.SCHEMA + queue_sqlite.SCHEMA
Frames = list[bytes]


@dataclass(frozen=True)
class Specimen:
    """The state folder of a stopped Gofer, a copy made while it was open, and its runs."""

    folder: Path
    open_folder: Path
    """With the write-ahead log as it was, not yet folded into the file."""
    frames: dict[str, Sequence[bytes]]
    keys: dict[str, bytes]
    journals: dict[str, Sequence[Recorded]]
    run: str
    """The demo's run."""
    long: str
    """A run with values large enough to be stored as bodies."""

    def copy(self, to: Path) -> Path:
        """Return a copy of the closed folder, to be damaged."""
        shutil.copytree(self.folder, to)
        return to


async def make_specimen(folder: Path) -> Specimen:
    async with company(folder) as made:
        await ask_about_the_decision(made)
        (head,) = await made.ended()
        told = await made.ask("It is a long story. " * 180, "general")
        for _ in range(8):
            await made.ask("And it goes on. " * 220, "general", told)
        await made.ask("@Gofer what do you make of it?", "general", told)
        heads = await made.ended(2)
        state = made.embedded.state
        frames = {item.run: await state.store.frames(item.run) for item in heads}
        keys = {item.run: await state.store.key(item.run) or b"" for item in heads}
        journals = {item.run: await read_journal(item.run, state.store, state.blobs) for item in heads}
        shutil.copytree(folder / "state", folder / "open")
    (long,) = frames.keys() - {head.run}
    return Specimen(folder / "state", folder / "open", frames, keys, journals, head.run, long)


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    return asyncio.run(make_specimen(tmp_path_factory.mktemp("specimen")))


# --- One frame, at every position ---------------------------------------------------------------------------------


async def read(specimen: Specimen, run: str, stored: Sequence[bytes]) -> None:
    """Read frames as the journal of a run whose head has the number of frames."""
    store = MemoryStore()
    key = specimen.keys[run]
    for n, frame in enumerate(stored, start=1):
        await (store.create(run, n, frame) if n > 1 else store.claim(run, frame, key))
    await store.put_head(Head(run, "answer-here", "c", 1, frames=len(specimen.frames[run])))
    assert list(await read_journal(run, store, DirectoryBlobs(specimen.folder / "blobs"))) == specimen.journals[run]


@settings(max_examples=300)
@given(st.data())
async def test_changed_or_cut_frame_is_reported_with_run_and_frame_number(
    specimen: Specimen, data: st.DataObject
) -> None:
    run = data.draw(st.sampled_from(sorted(specimen.frames)))
    stored = list(specimen.frames[run])
    which = data.draw(st.integers(0, len(stored) - 1))
    where = data.draw(st.integers(0, len(stored[which]) - 1))
    mask = data.draw(st.integers(0, 255), label="bits that change; 0 cuts the frame there")
    changed = bytes([stored[which][where] ^ mask]) + stored[which][where + 1 :] if mask else b""
    stored[which] = stored[which][:where] + changed
    with pytest.raises(Corrupt, match=rf"^Run {run} is damaged at frame {which + 1}[:,] [^.]+\.$"):
        await read(specimen, run, stored)


async def test_frames_removed_anywhere_are_detected(specimen: Specimen) -> None:
    for run, stored in specimen.frames.items():
        await read(specimen, run, stored)
        for begin in range(len(stored)):
            for end in range(begin + 1, len(stored) + 1):
                # A gap is reported at its place, a lost end after the last remaining frame.
                named = f"after frame {begin}:" if end == len(stored) else f"at frame {begin + 1}:"
                with pytest.raises(Corrupt, match=f"Run {run} is damaged {named}"):
                    await read(specimen, run, [*stored[:begin], *stored[end:]])


# --- The reports of `gofer trace`, the pages and a worker -----------------------------------------------------------


def rewritten(seal: Seal, stored: Frames, n: int, **changes: object) -> Frames:
    """Return the journal with frame `n` validly written with other fields."""
    made = stored[: n - 1]
    for frame in open_chain(stored, seal)[n - 1 :]:
        previous = frame_hash(made[-1]) if made else GENESIS
        made.append(frame_bytes(replace(frame, prev_hash=previous, **(changes if frame.n == n else {})), seal))
    return made


def of_a_newer_format(seal: Seal, stored: Frames) -> Frames:
    header = bytes([FORMAT + 1]) + GENESIS
    plain = seal.open("frame 1", stored[0][len(header) :], stored[0][: len(header)])
    return [header + seal.close("frame 1", plain, header), *stored[1:]]


def with_an_unknown_entry(seal: Seal, stored: Frames) -> Frames:
    return rewritten(seal, stored, len(stored), entries=[{"kind": "run.dreamed", "of": "sheep"}])


def with_an_unknown_field(seal: Seal, stored: Frames) -> Frames:
    return rewritten(seal, stored, len(stored), entries=[{"kind": "run.owned", "mood": "good"}])


def of_another_run(seal: Seal, stored: Frames) -> Frames:
    another = Seal("another", bytes(range(KEY_BYTES)))
    return [frame_bytes(frame, another) for frame in open_chain(stored, seal)]


def with_a_later_frame_of_another_run(seal: Seal, stored: Frames) -> Frames:
    forged = Frame(3, 1, "o", "n", open_chain(stored, seal)[2].prev_hash, [to_json(RunOwned())])
    return [*stored[:2], frame_bytes(forged, Seal("another", bytes(range(KEY_BYTES)))), *stored[3:]]


def flipped(frame: bytes) -> bytes:
    return frame[:-1] + bytes([frame[-1] ^ 1])


DAMAGE: dict[str, tuple[Callable[[Seal, Frames], Frames], str]] = {
    "a changed byte": (lambda seal, f: [*f[:2], flipped(f[2]), *f[3:]], "damaged at frame 3"),
    "a changed byte at the end": (lambda seal, f: [*f[:-1], flipped(f[-1])], "damaged at frame 7"),
    "a cut frame": (lambda seal, f: [f[0], f[1][:-1], *f[2:]], "damaged at frame 2"),
    "an empty frame": (lambda seal, f: [*f[:6], b""], "damaged at frame 7"),
    "a lost frame in the middle": (lambda seal, f: [*f[:2], *f[3:]], "damaged at frame 3"),
    "a lost first frame": (lambda seal, f: f[1:], "damaged at frame 1"),
    "a lost last frame": (lambda seal, f: f[:-1], "damaged after frame 6: 7 frames were written and 6 are there"),
    "all frames lost": (lambda seal, f: [], "damaged after frame 0: 7 frames were written and 0 are there"),
    "swapped frames": (lambda seal, f: [*f[:2], f[3], f[2], *f[4:]], "damaged at frame 3"),
    "another run": (of_another_run, "damaged at frame 1"),
    "a frame of another run": (with_a_later_frame_of_another_run, "damaged at frame 3"),
}
NEWER: dict[str, tuple[Callable[[Seal, Frames], Frames], str]] = {
    "a newer format": (
        of_a_newer_format,
        "was written by a newer version of Gofer (format 4, and this version reads format 3)",
    ),
    "an entry of an unknown kind": (
        with_an_unknown_entry,
        "cannot be read at frame 7: this journal has an entry of kind",
    ),
    "an unknown field": (with_an_unknown_field, "cannot be read at frame 7: this journal has a field 'mood'"),
}


def rewrite(folder: Path, run: str, change: Callable[[Seal, Frames], Frames]) -> None:
    """Change the frames of a run in the database."""
    with closing(KeyFile(folder / "keys")) as keys:
        key = keys.get(run)
    assert key is not None
    with closing(sqlite3.connect(folder / "gofer.db")) as connection, connection:
        rows = connection.execute("SELECT frame FROM frames WHERE run = ? ORDER BY n", (run,)).fetchall()
        connection.execute("DELETE FROM frames WHERE run = ?", (run,))
        changed = change(Seal(run, key), [row[0] for row in rows])
        connection.executemany("INSERT INTO frames VALUES (?, ?, ?)", [(run, n, f) for n, f in enumerate(changed, 1)])


def stored_frames(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "gofer.db")) as connection:
        return connection.execute("SELECT * FROM frames ORDER BY run, n").fetchall()


async def check_everywhere(
    folder: Path, run: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that `gofer trace` and the page report it, and that a worker changes nothing and marks the run."""
    before = stored_frames(folder)
    await check_trace(folder, run, said, capsys, monkeypatch)
    make_runnable(folder, run)
    async with company(folder.parent) as made:
        messages = len(made.slack.workspace.timeline("C0GENRL0"))
        heads = {head.run: head for head in await made.ended(2)}
        await check_page(made, run, said)
        assert len(made.slack.workspace.timeline("C0GENRL0")) == messages
    assert heads[run].status == "needs_attention"
    assert said in heads[run].reason
    assert stored_frames(folder) == before


async def check_trace(
    folder: Path, run: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFER_DATA", str(folder))
    assert await asyncio.to_thread(main, ["trace", run]) == 1
    out, err = capsys.readouterr()
    # The steps before the damage are shown, if there are any.
    assert out == "" or out.startswith(f"run {run}")
    assert err.count("\n") == 1
    assert f"gofer: Run {run} " in err
    assert said in err


async def check_page(made: Company, run: str, said: str) -> None:
    """Check that the page shows the steps before the damage, or, without a readable frame, only the damage."""
    page = await made.get(f"/runs/{run}")
    assert page.status_code in (200, 500)
    assert said in unescape(page.text)


def make_runnable(folder: Path, run: str) -> None:
    """Set the head to a running run, so that a worker takes it over at startup."""
    with closing(sqlite3.connect(folder / "gofer.db")) as connection, connection:
        connection.execute("UPDATE heads SET status = 'running' WHERE run = ?", (run,))


@pytest.mark.parametrize("kind", DAMAGE)
async def test_damaged_journal_is_reported_by_cli_pages_and_worker_and_left_unchanged(
    specimen: Specimen,
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change, said = DAMAGE[kind]
    folder = specimen.copy(tmp_path / "state")
    rewrite(folder, specimen.long, change)
    await check_everywhere(folder, specimen.long, said, capsys, monkeypatch)


@pytest.mark.parametrize("kind", NEWER)
async def test_journal_of_a_newer_gofer_is_left_unchanged_and_finished_by_the_newer_one(
    specimen: Specimen,
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    change, said = NEWER[kind]
    run, folder = specimen.long, specimen.copy(tmp_path / "state")
    whole = stored_frames(folder)
    rewrite(folder, run, change)
    before = stored_frames(folder)
    await check_trace(folder, run, said, capsys, monkeypatch)
    make_runnable(folder, run)
    async with company(folder.parent) as made:
        async with asyncio.timeout(60):
            while said not in caplog.text:
                await asyncio.sleep(0.01)
        await check_page(made, run, said)
    assert stored_frames(folder) == before
    rewrite(folder, run, lambda seal, stored: [bytes(row[2]) for row in whole if row[0] == run])  # type: ignore[arg-type]
    async with company(folder.parent) as made:
        assert [head.status for head in await made.ended(2)] == ["done", "done"]


@pytest.mark.parametrize("kind", ["missing", "changed", "cut"])
async def test_damaged_body_is_reported_by_cli_pages_and_worker_and_left_unchanged(
    specimen: Specimen,
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = specimen.copy(tmp_path / "state")
    (body, *_) = (folder / "blobs" / specimen.long).iterdir()
    raw = body.read_bytes()
    body.unlink()
    if kind != "missing":
        body.write_bytes(raw[:-1] if kind == "cut" else bytes([raw[0] ^ 1]) + raw[1:])
    said = "cannot be read at frame 4: the body "
    await check_everywhere(folder, specimen.long, said, capsys, monkeypatch)


async def test_intact_journal_is_read_by_cli_and_pages_and_resumed_by_a_worker(
    specimen: Specimen, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this, the tests above would also pass if no journal could be read at all."""
    folder = specimen.copy(tmp_path / "state")
    monkeypatch.setenv("GOFER_DATA", str(folder))
    assert await asyncio.to_thread(main, ["trace", specimen.long, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == specimen.long
    make_runnable(folder, specimen.long)
    async with company(tmp_path) as made:
        assert [head.status for head in await made.ended(2)] == ["done", "done"]
        assert (await made.get(f"/runs/{specimen.long}")).status_code == 200


# --- Torn writes --------------------------------------------------------------------------------------------------


class Bench:
    """One folder in which a damaged database is opened again and again."""

    def __init__(self, specimen: Specimen, folder: Path) -> None:
        self.specimen = specimen
        self.path = folder / "gofer.db"
        shutil.copy(specimen.folder / "keys", folder / "keys")
        self.blobs = DirectoryBlobs(specimen.folder / "blobs")

    async def opened(self, database: bytes, log: bytes = b"") -> list[str]:
        """Open these bytes as a database; return a verdict for each run, or one for the whole file."""
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.path.write_bytes(database)
        if log:
            Path(f"{self.path}-wal").write_bytes(log)
        try:
            made = Database(self.path, SCHEMA)
        except (Corrupt, TemporaryError) as error:
            return ["refused" if str(self.path) in str(error) else "refused without a name"]
        keys = KeyFile(self.path.with_name("keys"))
        try:
            return [await self._read(run, SqliteStore(made, keys)) for run in sorted(self.specimen.journals)]
        finally:
            made.close()
            keys.close()

    async def _read(self, run: str, store: SqliteStore) -> str:
        whole = list(self.specimen.journals[run])
        try:
            found = list(await read_journal(run, store, self.blobs))
            known = await store.head(run)
            await store.heads(1_000, private=True)
        except (Corrupt, TemporaryError):
            return "reported"
        assert found == whole[: len(found)]
        if found != whole:
            assert known is None or known.frames <= (found[-1].n if found else 0)
        return "whole" if found == whole else "shorter"


@pytest.fixture
def bench(specimen: Specimen) -> Iterator[Bench]:
    # In memory where possible: thousands of files are opened, and no power cut is simulated.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Bench(specimen, Path(folder))


@pytest.mark.parametrize("how", ["changed", "cut"])
async def test_torn_write_ahead_log_keeps_the_frames_before_the_tear(
    everywhere: bool, specimen: Specimen, bench: Bench, how: str
) -> None:
    """SQLite checks each page of its log: a torn page and all later ones count as not written, as after a power cut."""
    database = (specimen.open_folder / "gofer.db").read_bytes()
    log = (specimen.open_folder / "gofer.db-wal").read_bytes()
    seen: list[list[str]] = []
    for at in spread(everywhere, range(0, len(log), 256), 7):
        torn = log[:at] + (bytes([log[at] ^ 0x10]) + log[at + 1 :] if how == "changed" else b"")
        seen.append(await bench.opened(database, torn))
    assert seen[0] == ["shorter", "shorter"]
    assert seen[-1] == ["whole", "whole"]
    assert not any("refused" in verdicts for verdicts in seen)


async def test_changed_byte_of_the_database_is_reported_or_harmless(
    everywhere: bool, specimen: Specimen, bench: Bench
) -> None:
    raw = (specimen.folder / "gofer.db").read_bytes()
    seen: set[str] = set()
    for at in spread(everywhere, [*range(0, 4096, 3), *range(4096, len(raw), 61)], 7):
        changed = raw[:at] + bytes([raw[at] ^ (1 << at % 8)]) + raw[at + 1 :]
        seen |= set(await bench.opened(changed))
    assert seen == {"refused", "reported", "whole"}


async def test_changed_byte_of_the_key_file_is_reported_or_harmless_for_each_run(
    everywhere: bool, specimen: Specimen, bench: Bench
) -> None:
    database = (specimen.folder / "gofer.db").read_bytes()
    raw = (specimen.folder / "keys").read_bytes()
    seen: set[tuple[str, ...]] = set()
    for at in spread(everywhere, [*range(32), *range(256, len(raw), 5)], 40):
        changed = raw[:at] + bytes([raw[at] ^ (1 << at % 8)]) + raw[at + 1 :]
        bench.path.with_name("keys").write_bytes(changed)
        seen.add(tuple(await bench.opened(database)))
    assert seen <= {("whole", "whole"), ("reported", "whole"), ("whole", "reported"), ("reported", "reported")}
    assert ("whole", "whole") in seen
    assert len(seen) > 1
