"""The memo of a run that is held after a restore: the time of its backup."""

from gofer.journal.store import Store
from gofer.values.outside import Clock


async def restored_from(run: str, store: Store) -> int:
    """Return the time of the backup of a held run in unix milliseconds; 0 for every other run."""
    return int(await store.memo(_memo_key(run)) or 0)


async def mark_held(run: str, store: Store, *, backup_at: int, now: int) -> None:
    """Record that a run is held; times are unix milliseconds."""
    await store.put_memo(_memo_key(run), str(backup_at), now)


async def release(run: str, store: Store, clock: Clock) -> None:
    """End the hold of a run. The caller first tells the journal that the run continues from a backup."""
    await store.put_memo(_memo_key(run), "0", int(clock.now() * 1000))


def _memo_key(run: str) -> str:
    return f"restored:{run}"
