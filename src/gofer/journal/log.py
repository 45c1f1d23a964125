"""The journal of one run: readers read it, and only the owner of the run appends to it.

`Journal.commit` is the only code that adds a frame to a run; `engine/owned_run.py` is its only caller.
(`copied_journal.py` writes copies of whole journals, which never had an owner.)
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gofer.journal.blob_store import Blobs, Bodies
from gofer.journal.bodies import Objects, keep, restore, stored_frame, take, too_large
from gofer.journal.codec import from_json, to_json
from gofer.journal.entries import Entry, Recorded, RunAccepted
from gofer.journal.frame_counts import known_frames, note_frames
from gofer.journal.frames import GENESIS, Frame, check_chain, frame_hash, open_chain, opened
from gofer.journal.lineage import root_of
from gofer.journal.seal import Seal, seal_of
from gofer.journal.store import Store
from gofer.values.errors import Corrupt, Fenced, Gone, TemporaryError
from gofer.values.outside import Outside


@dataclass(frozen=True, slots=True)
class Pen:
    """What a journal needs to write a frame: the id of the owner, and the clock and ids of the outside world."""

    owner: str
    outside: Outside

    def at(self) -> int:
        """Return the current time in unix milliseconds."""
        return int(self.outside.clock.now() * 1000)

    def frame(self, n: int, at: int, prev_hash: bytes, entries: Objects) -> Frame:
        """Return a frame by this owner with a fresh nonce."""
        return Frame(n, at, self.owner, self.outside.new_id(), prev_hash, entries)


class Journal:
    """The journal of one run for its owner: the owner adds entries to a draft and commits the draft as a frame.

    An entry has its address and time as soon as it is added, because no other owner can write that frame. It is durable
    only after `commit`, so the owner commits an intent before its effect begins. Entries that are added while a frame
    is being written belong to the next frame, because several steps of a run may be running.
    """

    def __init__(self, store: Store, blobs: Blobs, pen: Pen, stored: Sequence[bytes], seal: Seal) -> None:
        self.run = seal.run
        self.pen = pen
        self.seal = seal
        self._store = store
        self._blobs = blobs
        self._n = len(stored)
        self._hash = frame_hash(stored[-1])
        self._draft: list[Recorded] = []
        self._writing: list[Recorded] = []
        self._turn = asyncio.Lock()

    def add(self, entry: Entry) -> Recorded:
        """Add an entry to the draft of the next frame."""
        at = self.pen.at()
        if self._draft:
            at = self._draft[0].at
        n = self._n + 1
        if self._writing:
            n += 1
        recorded = Recorded(n=n, i=len(self._draft), at=at, owner=self.pen.owner, entry=entry)
        self._draft.append(recorded)
        return recorded

    @property
    def frames(self) -> int:
        """The number of durable frames."""
        return self._n

    @property
    def drafted(self) -> bool:
        """Whether any entry is not durable yet."""
        return bool(self._draft or self._writing)

    def discard(self) -> None:
        """Drop the entries of the draft, which were never durable."""
        self._draft = []

    async def keep(self, content: bytes) -> str:
        """Store a body of the run and return its name for an entry. Raises TemporaryError."""
        return await keep(self._blobs, self.seal, content)

    async def commit(self) -> bool:
        """Write the draft as the next frame; return whether it had entries. Concurrent commits run one after another.

        Raises Fenced when another owner wrote that frame, and TemporaryError when nothing was written.
        """
        async with self._turn:
            if not self._draft:
                return False
            self._writing = self._draft
            self._draft = []
            try:
                await self._write(self._writing)
            except BaseException:
                # These entries are not durable, so they come first in the next frame.
                draft = [*self._writing, *self._draft]
                self._draft = [replace(recorded, n=self._n + 1, i=i) for i, recorded in enumerate(draft)]
                raise
            finally:
                self._writing = []
            # The frame is durable even if its count is not written; the next count covers it.
            with contextlib.suppress(TemporaryError):
                await note_frames(self.run, self._n, self._store, self.pen.at())
            return True

    async def _write(self, drafted: Sequence[Recorded]) -> None:
        objects = [to_json(recorded.entry) for recorded in drafted]
        frame = self.pen.frame(self._n + 1, drafted[0].at, self._hash, objects)
        raw = await stored_frame(frame, self._blobs, self.seal)
        existing = await self._store.create(self.run, frame.n, raw)
        # Equal bytes have this owner's nonce: the response to its write was lost, and a retry met that write.
        if existing is not None and existing != raw:
            raise Fenced(f"Run {self.run} has another owner from frame {frame.n} on.")
        self._n = frame.n
        self._hash = frame_hash(raw)


async def read_body(run: str, name: str, store: Store, blobs: Bodies) -> bytes:
    """Return a stored body of a run. Raises Corrupt, and Gone when the run was deleted."""
    seal = await seal_of(run, store)
    try:
        return take(seal, await blobs.get(f"{root_of(run)}/{name}"))
    except Corrupt:
        # A body is also missing while its run is deleted: then seal_of raises Gone.
        await seal_of(run, store)
        raise


async def open_journal(run: str, store: Store, blobs: Blobs, pen: Pen) -> tuple[Journal, Sequence[Recorded]]:
    """Return the journal of a run, and all its entries so far.

    Raises Corrupt when stored bytes changed or are missing, OtherVersion, and Gone when the run was deleted.
    """
    stored = await _stored(run, store)
    seal = await seal_of(run, store)
    return Journal(store, blobs, pen, stored, seal), await _entries(stored, seal, store, blobs)


async def read_journal(run: str, store: Store, blobs: Blobs) -> Sequence[Recorded]:
    """Return all entries of a run for a reader, or none if there is no such run.

    Raises Corrupt, OtherVersion, and Gone when the run was deleted.
    """
    stored = await _stored(run, store)
    if stored:
        return await _entries(stored, await seal_of(run, store), store, blobs)
    return ()


async def read_until_damage(run: str, store: Store, blobs: Blobs) -> tuple[Sequence[Recorded], Corrupt | None]:
    """Return the entries of a run before its first damaged frame, and the damage; None for an undamaged journal.

    Raises Gone when the run was deleted.
    """
    try:
        return await read_journal(run, store, blobs), None
    except Corrupt as error:
        damage = error
    entries: list[Recorded] = []
    with contextlib.suppress(Corrupt):
        seal = await seal_of(run, store)
        for frame in opened(await store.frames(run), seal):
            entries += await _read(frame, seal, blobs)
    return entries, damage


async def claim(run: str, accepted: RunAccepted, pen: Pen, store: Store, blobs: Bodies) -> bytes | None:
    """Claim a run: write its key and frame 1, and return None. If frame 1 exists, return its bytes and write nothing.

    Fields that are too large for a frame are stored as bodies first. Raises TemporaryError, and Gone for a subagent run
    after its root was deleted.
    """
    objects = [to_json(accepted)]
    at = pen.at()
    if root_of(run) == run:
        key = pen.outside.new_key()
        seal = Seal(run, key)
    else:
        # A subagent run uses the key of its root and is deleted with it, so its claim needs no time.
        key = b""
        at = 0
        seal = await seal_of(run, store)
    if too_large(objects) and (stored := await store.frames(run)):
        # Store no bodies for a run that was claimed or deleted before.
        return stored[0]
    raw = await stored_frame(pen.frame(1, pen.at(), GENESIS, objects), blobs, seal)
    existing = await store.claim(run, raw, key, at)
    if existing == raw:
        return None
    return existing


async def open_claim(run: str, first: bytes, store: Store, blobs: Bodies) -> Recorded | None:
    """Return the entry in frame 1 of a run from its stored bytes, or None if the run was deleted.

    Raises Corrupt, OtherVersion.
    """
    try:
        seal = await seal_of(run, store)
        # A frame is emptied only after its key was destroyed, so with a key it has content.
        (frame,) = open_chain([first], seal)
        (recorded,) = await _read(frame, seal, blobs)
    except Gone:
        return None
    except Corrupt:
        # Bodies are also missing while the run is deleted.
        if await _deleted(run, store):
            return None
        raise
    return recorded


async def _deleted(run: str, store: Store) -> bool:
    try:
        await seal_of(run, store)
    except Gone:
        return True
    return False


async def _stored(run: str, store: Store) -> Sequence[bytes]:
    """Return the stored frames of a run. Raises Corrupt when their chain is broken or the last ones are missing."""
    # Read the count first, because a frame that is appended between both reads would raise the count alone. The
    # caller reads the key after both: as long as the key exists, no frame was emptied.
    known = await known_frames(run, store)
    stored = await store.frames(run)
    if len(stored) < known:
        check_chain(run, stored)
        found = f"{known} frames were written and {len(stored)} are there"
        raise Corrupt(f"Run {run} is damaged after frame {len(stored)}: {found}; restore them.")
    return stored


async def _entries(stored: Sequence[bytes], seal: Seal, store: Store, blobs: Bodies) -> Sequence[Recorded]:
    try:
        return [recorded for frame in open_chain(stored, seal) for recorded in await _read(frame, seal, blobs)]
    except Corrupt:
        # Bodies are also missing while the run is deleted: then seal_of raises Gone.
        await seal_of(seal.run, store)
        raise


async def _read(frame: Frame, seal: Seal, blobs: Bodies) -> Sequence[Recorded]:
    try:
        entries = [from_json(value) for value in await restore(blobs, frame, seal)]
        if frame.n == 1 and not (entries and isinstance(entries[0], RunAccepted)):
            raise Corrupt("It does not begin with the claim; restore it from a backup.")
    except Corrupt as error:
        said = str(error)
        raise type(error)(f"Run {seal.run} cannot be read at frame {frame.n}: {said[:1].lower()}{said[1:]}") from error
    return [Recorded(n=frame.n, i=i, at=frame.at, owner=frame.owner, entry=entry) for i, entry in enumerate(entries)]
