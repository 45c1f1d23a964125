"""The one path from a journal to a reader: what a run did and said, for a person who may read it.

Pages, the API and the commands read runs through `RunReader`. It decides at each reading whether the reader may see
the run: a public run is for everyone who reaches Gofer's pages, and a private run for the people who may see its place.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from gofer.journal.child_runs import SubagentJournals, read_subagents
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded
from gofer.journal.hidden_runs import hide, is_hidden
from gofer.journal.lineage import root_of
from gofer.journal.log import read_until_damage
from gofer.journal.store import Store
from gofer.projections.progress import Progress, project
from gofer.runtime.run_record import RunRecord, read_bundle
from gofer.sources.receivers import BY_SOURCE
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError, Corrupt, GoferError, Gone, OtherVersion
from gofer.values.events import Event
from gofer.values.outside import Clock
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded

LISTED = 200
"""The number of newest runs that are searched for runs of the same channel. Older runs are hidden when viewed."""
MOST_SEARCHED = 10_000
"""The number of newest runs among which a shortened id is searched."""
RUN_ID = 24
"""The characters of the id of a run, without that of a subagent; a shorter text may be the beginning of an id."""
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
class RunReader:
    """The reader of runs, which shows a run only to a person who may see it."""

    stores: Stores
    clock: Clock
    workflows: Mapping[str, Loaded]
    """The current workflows, whose owners see runs on private repositories."""

    async def find(self, name: str, reader: Reader) -> RunRecord | None:
        """Return the run with this id, or the only listed run whose id begins so; None as `read` does.

        Also find the subagent run that `ROOT.BEGINNING` names. A private root is found by its whole id only. Raises
        Ambiguous, and what `read` raises.
        """
        root = root_of(name)
        if root == name:
            return await self._find_root(name, reader)
        with contextlib.suppress(Gone):
            if (record := await self.read(name, reader)) is not None:
                return record
        above = await self._find_root(root, reader)
        if above is None:
            return None
        found = above.subagent_runs(f"{above.run}{name.removeprefix(root)}")
        if len(found) > 1:
            raise Ambiguous(name, len(found))
        if not found:
            return None
        return await self.read(found[0], reader)

    async def _find_root(self, name: str, reader: Reader) -> RunRecord | None:
        record = await self.read(name, reader)
        if record is not None or len(name) >= RUN_ID:
            return record
        found = await _beginning_with(self.stores.journals, name)
        if len(found) > 1:
            raise Ambiguous(name, len(found))
        if not found:
            return None
        return await self.read(found[0].run, reader)

    async def read(self, run: str, reader: Reader) -> RunRecord | None:
        """Return a run by its full id; None if it does not exist or the reader may not see it.

        Of a damaged run, return the part before the damage. Raises Gone, TemporaryError, and Corrupt if the first frame
        of a listed run cannot be read.
        """
        entries, damage = await self._entries(run)
        root = root_of(run)
        of_root = entries
        if root != run:
            of_root, _ = await self._entries(root)
        if not await self._is_shown(root, reader, project(of_root), damaged=damage is not None):
            return None
        if not entries:
            raise _unreadable(run, damage)
        progress = project(entries)
        subagents = await self._subagents(entries)
        bundles = await self._bundles({run: entries, **subagents.journals})
        return RunRecord(run, entries, progress, subagents, bundles, damage)

    async def _entries(self, run: str) -> tuple[Sequence[Recorded], Corrupt | None]:
        return await read_until_damage(run, self.stores.journals, self.stores.blobs)

    async def _subagents(self, entries: Sequence[Recorded]) -> SubagentJournals:
        """Return the journals of the subagent runs; of a damaged one, the part before the damage."""
        found = await read_subagents(entries, self.stores.journals, self.stores.blobs)
        for run in found.damaged:
            with contextlib.suppress(Gone):
                found.journals[run], _ = await self._entries(run)
        return found

    async def _bundles(self, journals: Mapping[str, Sequence[Recorded]]) -> Mapping[str, Bundle]:
        """Return the bundles of runs that started; without the missing ones."""
        found: dict[str, Bundle] = {}
        for run, entries in journals.items():
            bundle = await read_bundle(project(entries), self.stores.blobs)
            if bundle is not None:
                found[run] = bundle
        return found

    async def _is_shown(self, run: str, reader: Reader, progress: Progress, *, damaged: bool) -> bool:
        """Return whether a reader may see a run now. If the place of the run became private, hide the run first."""
        event = progress.event
        hidden = await is_hidden(run, self.stores.journals)
        if event is None:
            return damaged and not hidden and await self._is_listed(run)
        private = progress.private
        if damaged and private and progress.started is None and event.private is None:
            # The journal was damaged before it says what the place is. The list of runs knows it.
            private = not await self._is_listed(run)
        if private or hidden:
            return await reader.sees(event)
        if await reader.became_private(event):
            await hide_place(run, event, self.stores, int(self.clock.now() * 1000))
            return await reader.sees(event)
        spec = BY_SOURCE.get(event.source)
        if spec is not None and spec.is_restricted(event):
            return await reader.sees_repository(self.workflows.get(progress.workflow))
        return True

    async def _is_listed(self, run: str) -> bool:
        head = await self.stores.journals.head(run)
        return head is not None and not head.private


class Ambiguous(ConfigError):
    """A shortened id with which several listed runs begin."""

    def __init__(self, prefix: str, found: int) -> None:
        super().__init__(f"{found} runs begin with {prefix!r}; write more characters of the id.")


def _unreadable(run: str, damage: Corrupt | None) -> GoferError:
    """Return the error for a run without a single frame that can be read."""
    if damage is None:
        return Gone(f"Run {run} has no entries.")
    if isinstance(damage, OtherVersion):
        return damage
    return Corrupt(f"{damage} No part of the run can be read; restore it from a backup with `gofer restore`.")


async def listed_run(store: Store, prefix: str) -> Head:
    """Return the listed run with an id that begins with `prefix`.

    Raises ConfigError when there is no such run, and Ambiguous when there is more than one.
    """
    if not prefix:
        raise ConfigError("The id of the run is empty; `gofer runs` lists the newest runs.")
    exact = await store.head(prefix)
    if exact is not None and not exact.private:
        # An exact id also finds a run that is too old for the list.
        return exact
    found = await _beginning_with(store, prefix)
    if len(found) > 1:
        raise Ambiguous(prefix, len(found))
    if not found:
        problem = f"There is no run {prefix!r}; `gofer runs` lists the newest runs."
        if len(prefix) < RUN_ID:
            problem = f"{problem} Only a whole id finds a run behind the newest {MOST_SEARCHED:,}."
        raise ConfigError(problem)
    return found[0]


async def _beginning_with(store: Store, prefix: str) -> Sequence[Head]:
    """Return the listed runs with ids that begin with a text that is not empty."""
    if not prefix:
        return ()
    return [head for head in await store.heads(MOST_SEARCHED) if head.run.startswith(prefix)]


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
    """Return the event of a run, also of a damaged one; None if its first frame cannot be read."""
    try:
        entries, _ = await read_until_damage(run, stores.journals, stores.blobs)
    except Gone:
        return None
    return project(entries).event


def _place(event: Event) -> tuple[str, str]:
    return event.source, event.place.get("channel", "")
