"""The state folder of one machine after each frame of a story, read and continued by today's code."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from frozen.folder import BODIES, ROWS, SCHEMA, SLOTS, KeptBlobs, Row, bodies, build, rows, schema, slots, stored
from frozen.lines import line, lines
from frozen.stage import MENTION, FileDatabase, Stage
from gofer.app.embedded.integrity import DATABASE, KEYS
from gofer.app.embedded.state import State, read_state
from gofer.journal.child_runs import subagent_runs
from gofer.journal.codec import to_json
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections import conversation, progress
from gofer.projections.tracing import trace
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.sqlite.key_file import KeyFile
from gofer.values.errors import GoferError
from support.simulation.virtual_time import play
from support.stand_ins import SetClock

_RUNS = "SELECT DISTINCT run FROM frames ORDER BY run"
EVERY = 6
"""One in so many frames is the last before the run is continued by today's code."""


class Watched:
    """A store that records the rows of the database after each frame."""

    def __init__(self, store: Store, database: FileDatabase) -> None:
        self._store = store
        self._connection = database.connection
        self._before: Counter[Row] = Counter()
        self.changes: list[object] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        """See Store.claim."""
        standing = await self._store.claim(run, frame, key, at)
        self._note(run, 1)
        return standing

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        """See Store.create."""
        standing = await self._store.create(run, n, frame)
        self._note(run, n)
        return standing

    def _note(self, run: str, n: int) -> None:
        now = rows(self._connection)
        added = sorted((now - self._before).elements())
        removed = sorted((self._before - now).elements())
        self.changes.append({"run": run, "n": n, "added": added, "removed": removed})
        self._before = now


def made() -> Iterator[tuple[str, str]]:
    """Play the story and yield the texts of the folder after each frame."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        database = FileDatabase(folder / DATABASE)
        keys = KeyFile(folder / KEYS)
        blobs = KeptBlobs()
        watching: list[Watched] = []

        def watched(store: Store) -> Store:
            watching.append(Watched(store, database))
            return watching[0]  # type: ignore[return-value]

        stage = Stage(database, keys, blobs, watched)
        play(stage.loop, _story(stage))
        yield SCHEMA, schema(database.connection)
        yield ROWS, lines(watching[0].changes)
        yield SLOTS, lines(slots((folder / KEYS).read_bytes()))
        yield BODIES, lines(bodies(blobs))
        keys.close()
        database.connection.close()


def digests(texts: Mapping[str, str], folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the state of the folder's runs after each frame, and their end when today's code continues them."""
    frames = texts[ROWS].splitlines()
    told: list[str] = []
    ends: list[str] = []
    for length in range(1, len(frames) + 1):
        target = folder / str(length)
        build(texts, length, target)
        told.append(_or_refused(length, partial(_stands, target)))
        if length % EVERY == 0:
            ends.append(_or_refused(length, partial(_continued, texts, target)))
    yield "state.jsonl", "".join(told)
    yield "continued.jsonl", "".join(ends)


def _or_refused(length: int, read: Callable[[], Mapping[str, object]]) -> str:
    """Return the line of a frame, or the refusal when today's code refuses the folder."""
    try:
        found = read()
    except GoferError as error:
        found = {"refused": str(error)}
    return line({"frame": length, **found}) + "\n"


async def _story(stage: Stage) -> None:
    await stage.accept(MENTION)
    await stage.work()


def _stands(folder: Path) -> Mapping[str, object]:
    """Return the state of each run of a folder from its three projections."""
    with read_state(folder, SetClock()) as state:
        journals = asyncio.run(_journals(state))
    return {run: _digest(journal) for run, journal in journals.items()}


async def _journals(state: State) -> Mapping[str, Sequence[Recorded]]:
    found: dict[str, Sequence[Recorded]] = {}
    left = await _roots(state)
    for run in left:
        journal = await read_journal(run, state.store, state.blobs)
        left += subagent_runs(journal)
        # A subagent is announced before the first frame of its run.
        if journal:
            found[run] = journal
    return found


async def _roots(state: State) -> list[str]:
    """Return the claimed runs that are not subagent runs, also those whose head was not written."""
    found = await state.database.run(lambda connection: connection.execute(_RUNS).fetchall())
    return [run for (run,) in found if "." not in run]


def _digest(journal: Sequence[Recorded]) -> Mapping[str, object]:
    stands = progress.project(journal)
    said = conversation.project(journal)
    spans = [span.to_json() for span in trace.project(journal)]
    ending = stands.finished or stands.concluded
    return {
        "entries": len(journal),
        "last": to_json(journal[-1].entry)["kind"],
        "started": stands.started is not None,
        "status": ending.status if ending else "",
        "parked": stands.parked.reason if stands.parked else "",
        "in_doubt": sorted(stands.in_doubt),
        "asking": sorted(stands.asking),
        "approvals": sorted(f"{about} {call}" for about, call in stands.approvals),
        "calls": [stands.llm_calls, stands.tool_calls],
        "turn": said.turn,
        "open": sorted(said.open),
        "messages": _hash(b"\n".join(said.parts)),
        "spans": _hash(line(spans).encode()),
    }


def _continued(texts: Mapping[str, str], folder: Path) -> Mapping[str, object]:
    """Let today's code work on the folder, and return how its runs end."""
    database = FileDatabase(folder / DATABASE)
    keys = KeyFile(folder / KEYS)
    stage = Stage(database, keys, MemoryBlobs(), lambda store: store)
    try:
        play(stage.loop, _go_on(texts, stage))
        journals = asyncio.run(_kept(database, stage))
    finally:
        keys.close()
        database.connection.close()
    return {run: _digest(journal) for run, journal in journals.items()}


async def _go_on(texts: Mapping[str, str], stage: Stage) -> None:
    for key, body in stored(texts):
        await stage.blobs.put(key, body)
    # Later than everything in the folder: sent effects have landed, and no lease is valid.
    await asyncio.sleep(3_600)
    await stage.work()


async def _kept(database: FileDatabase, stage: Stage) -> Mapping[str, Sequence[Recorded]]:
    found = database.connection.execute(_RUNS).fetchall()
    return {run: await read_journal(run, stage.store, stage.blobs) for (run,) in found}


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]
