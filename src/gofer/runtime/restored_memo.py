"""The memo of a run that is held after a restore: when the backup was made that it came from."""

from gofer.journal.store import Store
from gofer.values.outside import Clock


async def restored_from(run: str, store: Store) -> int:
    """Return when the backup was made that a held run came from, unix milliseconds; 0 for every other run."""
    return int(await store.memo(_memo_key(run)) or 0)


async def mark_held(run: str, store: Store, *, backup_at: int, now: int) -> None:
    """Remember that a run is held; times are unix milliseconds."""
    await store.put_memo(_memo_key(run), str(backup_at), now)


async def release(run: str, store: Store, clock: Clock) -> None:
    """Hold a run no longer; its journal is told first that it goes on from a backup."""
    await store.put_memo(_memo_key(run), "0", int(clock.now() * 1000))


def _memo_key(run: str) -> str:
    return f"restored:{run}"
