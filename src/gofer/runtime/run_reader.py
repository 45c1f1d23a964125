"""The one path from a journal to a reader: what a run did and said, for a person who may read it.

Pages, the API and the commands read runs through `RunReader`. It decides at each reading whether the reader may see
the run: a public run is for everyone who reaches Gofer's pages, and a private run for the people who may see its place.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from gofer.journal.blob_store import BUNDLES
from gofer.journal.child_runs import SubagentJournals, read_subagents
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded
from gofer.journal.hidden_runs import hide, is_hidden
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections.progress import Progress, project
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.workflow_files import decode_bundle
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError, Corrupt, Gone
from gofer.values.events import Event
from gofer.values.outside import Clock
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded

LISTED = 200
"""The number of newest runs that are searched for runs of the same channel. Older runs are hidden when viewed."""
MOST_SEARCHED = 10_000
"""The number of newest runs among which a shortened id is searched."""
_AT_ONCE = 20


class Reader(Protocol):
    """A person who reads runs. Each method may raise TemporaryError if the answer cannot be determined."""

    async def sees(self, event: Event) -> bool:
        """Return whether the reader may see the run of a private event."""
        ...

    async def became_private(self, event: Event) -> bool:
        """Return whether the place of a public event is private now."""
        ...

    async def sees_repository(self, loaded: Loaded | None) -> bool:
        """Return whether the reader may see the run of a workflow on a repository that is not known to be public."""
        ...


class Operator(Reader):
    """The operator, on the machine of Gofer or with the credentials of its stage.

    Gofer does not know the operator's name, so private runs stay hidden. Runs on private repositories are shown,
    because the operator may read what Gofer's token reads.
    """

    @override
    async def sees(self, event: Event) -> bool:
        return False

    @override
    async def became_private(self, event: Event) -> bool:
        return False

    @override
    async def sees_repository(self, loaded: Loaded | None) -> bool:
        return True


OPERATOR = Operator()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as a person may read it: its journal, the journals of its subagents, and its bundle."""

    run: str
    entries: Sequence[Recorded]
    progress: Progress
    subagents: SubagentJournals
    bundle: Bundle | None
    """The prompt, tools and settings as the run began with them; None before it started."""


@dataclass(frozen=True, slots=True)
class RunReader:
    """The reader of runs, which shows a run only to a person who may see it."""

    stores: Stores
    clock: Clock
    workflows: Mapping[str, Loaded]
    """The current workflows, whose owners see runs on private repositories."""

    async def read(self, run: str, reader: Reader) -> RunRecord | None:
        """Return a run by its full id; None if it does not exist or the reader may not see it.

        Raises Corrupt, Gone, TemporaryError.
        """
        entries = await read_journal(run, self.stores.journals, self.stores.blobs)
        progress = project(entries)
        if not await self._is_shown(run, reader, progress):
            return None
        subagents = await read_subagents(entries, self.stores.journals, self.stores.blobs)
        return RunRecord(run, entries, progress, subagents, await self._bundle(progress))

    async def _bundle(self, progress: Progress) -> Bundle | None:
        if progress.started is None:
            return None
        return decode_bundle(await self.stores.blobs.get(f"{BUNDLES}/{progress.started.bundle}"))

    async def _is_shown(self, run: str, reader: Reader, progress: Progress) -> bool:
        """Return whether a reader may see a run now. If the place of the run became private, hide the run first."""
        event = progress.event
        if event is None:
            return False
        if progress.private or await is_hidden(run, self.stores.journals):
            return await reader.sees(event)
        if await reader.became_private(event):
            await hide_place(run, event, self.stores, int(self.clock.now() * 1000))
            return await reader.sees(event)
        spec = BY_SOURCE.get(event.source)
        if spec is not None and spec.is_restricted(event):
            return await reader.sees_repository(self.workflows.get(progress.workflow))
        return True


async def listed_run(store: Store, prefix: str) -> Head:
    """Return the listed run whose id begins with `prefix`.

    Raises ConfigError when there is no such run or more than one.
    """
    if not prefix:
        raise ConfigError("The id of the run is empty; `gofer runs` lists the newest runs.")
    exact = await store.head(prefix)
    if exact is not None and not exact.private:
        # An exact id also finds a run that is too old for the list.
        return exact
    found = [head for head in await store.heads(MOST_SEARCHED) if head.run.startswith(prefix)]
    if len(found) != 1:
        problem = "There is no run"
        if found:
            problem = f"{len(found)} runs begin with"
        raise ConfigError(f"{problem} {prefix!r}; `gofer runs` lists the newest runs.")
    return found[0]


async def hide_place(run: str, event: Event, stores: Stores, at: int) -> None:
    """Hide a run, and the newest other runs of its channel, from every list. `at` is now, in unix milliseconds.

    Raises TemporaryError.
    """
    store = stores.journals
    if not await is_hidden(run, store):
        listed = [head.run for head in await store.heads(LISTED) if head.run != run]
        for first in range(0, len(listed), _AT_ONCE):
            for other in await _of_channel(listed[first : first + _AT_ONCE], event, stores):
                await hide(other, store, at)
    # The run itself is hidden last. If this call fails earlier, the next view repeats it for all runs.
    await hide(run, store, at)


async def _of_channel(runs: Sequence[str], event: Event, stores: Stores) -> Sequence[str]:
    """Return the runs that began in the channel of an event."""
    events = await asyncio.gather(*(_event_of(run, stores) for run in runs))
    place = _place(event)
    return [run for run, other in zip(runs, events, strict=True) if other is not None and _place(other) == place]


async def _event_of(run: str, stores: Stores) -> Event | None:
    try:
        return project(await read_journal(run, stores.journals, stores.blobs)).event
    except (Corrupt, Gone):
        return None


def _place(event: Event) -> tuple[str, str]:
    return event.source, event.place.get("channel", "")
