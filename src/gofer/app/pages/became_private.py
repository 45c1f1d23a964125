"""What follows when a page finds that a channel became private: its runs leave the lists."""

import asyncio
from collections.abc import Sequence

from gofer.journal.hidden_runs import hide, is_hidden
from gofer.journal.log import read_journal
from gofer.projections.progress import project
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone
from gofer.values.events import Event

LISTED = 200
"""The newest runs, among which others of the channel are looked for. An older one leaves with its own view."""
_AT_ONCE = 20


async def hide_place(run: str, event: Event, stores: Stores, at: int) -> None:
    """Take a run and the newest others of its channel out of every list; `at` is now, unix milliseconds.

    Raises TemporaryError.
    """
    store = stores.journals
    if not await is_hidden(run, store):
        listed = [head.run for head in await store.heads(LISTED) if head.run != run]
        for first in range(0, len(listed), _AT_ONCE):
            for other in await _of_channel(listed[first : first + _AT_ONCE], event, stores):
                await hide(other, store, at)
    # Last: a look at the others that broke off is made again with the next view.
    await hide(run, store, at)


async def _of_channel(runs: Sequence[str], event: Event, stores: Stores) -> Sequence[str]:
    """Return which runs began in the channel of an event."""
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
