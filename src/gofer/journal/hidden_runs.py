"""Runs that were public until their place became private: their heads are marked, and stay marked.

The journal of such a run says that its place was public when it began. A memo beside it says what was seen later, so
that the owner of a run that has not ended does not put it back into the lists.
"""

from gofer.journal.store import Store


async def hide(run: str, store: Store, at: int) -> None:
    """Take a run out of every list; `at` is now, unix milliseconds. Raises TemporaryError."""
    if not await is_hidden(run, store):
        await store.put_memo(_key(run), "hidden", at)
    # Also after an earlier time: its owner may have written the head since.
    await store.hide(run)


async def is_hidden(run: str, store: Store) -> bool:
    """Return whether the place of a run was seen to be private after it began. Raises TemporaryError."""
    return await store.memo(_key(run)) is not None


def _key(run: str) -> str:
    return f"hidden:{run}"
