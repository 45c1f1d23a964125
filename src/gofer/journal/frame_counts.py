"""The least number of frames that a run has: the guard against a journal that lost its end.

The head of a root says so. A subagent's run has no head, so a memo counts its frames. The count is written after the
frame and before anything that relies on it, so it is never too high.
"""

from gofer.journal.coordination import DAY_MS
from gofer.journal.lineage import root_of
from gofer.journal.store import Store


async def note_frames(run: str, frames: int, store: Store, at: int) -> None:
    """Write down how many frames of a run are durable, `at` in unix milliseconds. Raises TemporaryError.

    Nothing is written for a root. A frozen owner may write a lower count: the guard is weaker then, and never wrong.
    """
    if root_of(run) != run:
        # With the time of its day, so that an index by age does not change with each frame.
        await store.put_memo(_key(run), str(frames), at - at % DAY_MS)


async def known_frames(run: str, store: Store) -> int:
    """Return how many frames a run has at least; 0 where that is not known. Raises TemporaryError."""
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
    """Return whether a run was ever claimed, also where its journal was lost. Raises TemporaryError."""
    return await known_frames(run, store) > 0 or bool(await store.frames(run))


async def forget_frames(run: str, store: Store) -> None:
    """Leave the count of a deleted run to the next purge. Raises TemporaryError."""
    if root_of(run) != run:
        await store.put_memo(_key(run), "0", 0)


def _key(run: str) -> str:
    return f"frames:{run}"
