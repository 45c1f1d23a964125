"""The state of a real run, made once through the whole of Gofer and damaged in copies, with what was written."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from support.app.company import ask_about_the_decision, company


@dataclass(frozen=True)
class Specimen:
    """The folder of a Gofer that was shut down, a copy made while it was open, and what its runs were."""

    folder: Path
    open_folder: Path
    """With the write-ahead log as it was, not yet folded into the file."""
    frames: dict[str, Sequence[bytes]]
    keys: dict[str, bytes]
    journals: dict[str, Sequence[Recorded]]
    run: str
    """The demo's run."""
    long: str
    """A run with values so large that they stand in bodies."""

    def copy(self, to: Path) -> Path:
        """A copy of the closed folder that may be damaged."""
        shutil.copytree(self.folder, to)
        return to


def make_specimen(folder: Path) -> Specimen:
    return asyncio.run(_make(folder))


async def _make(folder: Path) -> Specimen:
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
