"""Runs of another process, copied into the state that this process serves, so that people can open them here."""

from pathlib import Path

from gofer.app.embedded.integrity import BLOBS
from gofer.app.embedded.state import State, open_state
from gofer.journal.coordination import Head
from gofer.values.outside import SystemClock

_MOST = 10
"""The most runs that are copied."""


async def adopt_runs(data: Path, into: State) -> None:
    """Copy the ended runs of a folder that no process serves any more: keys, frames, bodies and heads.

    Raises ConfigError, TemporaryError.
    """
    with open_state(data, SystemClock(), alone=False) as other:
        for folder in sorted((data / BLOBS).iterdir()):
            for path in sorted(folder.iterdir()):
                await into.blobs.put(f"{folder.name}/{path.name}", path.read_bytes())
        for head in await other.store.heads(_MOST):
            await _copy(head, other, into)


async def _copy(head: Head, other: State, into: State) -> None:
    key = await other.store.key(head.run)
    first, *rest = await other.store.frames(head.run)
    await into.store.claim(head.run, first, key or b"", head.accepted_at)
    for number, frame in enumerate(rest, start=2):
        await into.store.create(head.run, number, frame)
    await into.store.create_head(head)
