"""The least number of frames of a run, which reveals a journal that lost its last frames.

The head of a root has this number. A subagent run has no head, so a memo has its number. The number is written after
the frame, and before any write that relies on the frame, so it is never too high.
"""

from gofer.journal.coordination import DAY_MS
from gofer.journal.lineage import root_of
from gofer.journal.store import Store


async def note_frames(run: str, frames: int, store: Store, at: int) -> None:
    """Record how many frames of a run are durable, `at` in unix milliseconds. Raises TemporaryError.

    Do nothing for a root. A frozen owner may record a lower number, which makes the check weaker but never wrong.
    """
    if root_of(run) != run:
        # The memo gets the beginning of the day as its time, so that an index by age changes only once a day.
        await store.put_memo(_key(run), str(frames), at - at % DAY_MS)


async def known_frames(run: str, store: Store) -> int:
    """Return the least number of frames of a run, or 0 if it is unknown. Raises TemporaryError."""
    if root_of(run) == run:
        head = await store.head(run)
        if head:
            return head.frames
        return 0
    known = await store.memo(_key(run)) or ""
    if known.isdecimal():
        return int(known)
    return 0


async def has_begun(run: str, store: Store) -> bool:
    """Return whether a run was ever claimed, even if its journal was lost. Raises TemporaryError."""
    return await known_frames(run, store) > 0 or bool(await store.frames(run))


async def forget_frames(run: str, store: Store) -> None:
    """Mark the number of a deleted run as old, so that the next purge removes it. Raises TemporaryError."""
    if root_of(run) != run:
        await store.put_memo(_key(run), "0", 0)


def _key(run: str) -> str:
    return f"frames:{run}"
