"""Runs in places that became private after the runs began: their heads are marked as private for good.

The journal of such a run says that its place was public when it began. A memo beside the journal says that the place is
private now, so that the owner of an unfinished run does not list the run again.
"""

from gofer.journal.coordination import Head
from gofer.journal.store import Store


async def hide(run: str, store: Store, at: int) -> None:
    """Hide a run from all lists; `at` is the current time in unix milliseconds. Raises TemporaryError."""
    if not await is_hidden(run, store):
        await store.put_memo(_key(run), "hidden", at)
    # Also for a run that was hidden before, because its owner may have written the head since.
    await store.hide(run)


async def write_head(head: Head, store: Store) -> None:
    """Replace the head of a run, and hide it again if its place became private meanwhile. Raises TemporaryError."""
    await store.put_head(head)
    # `hide` writes the memo before the head. So either this reads the memo, or `hide` changes the head afterwards.
    if not head.private and await is_hidden(head.run, store):
        await store.hide(head.run)


async def is_hidden(run: str, store: Store) -> bool:
    """Return whether the place of a run became private after the run began. Raises TemporaryError."""
    return await store.memo(_key(run)) is not None


def _key(run: str) -> str:
    return f"hidden:{run}"
