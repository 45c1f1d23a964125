"""The stores of runs that this process works on alone: in its memory, or in a folder that it locks."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from gofer.app.embedded.state import installation_key, served_state
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.outside import Clock, random_key
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True)
class RunStores:
    """The stores of one place, with the key that ids of runs are made with."""

    stores: Stores
    key: Secret


def memory_stores(clock: Clock) -> RunStores:
    """Return stores that end with this process; no other process can read them."""
    stores = Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(clock))
    return RunStores(stores, Secret(random_key().hex()))


@contextlib.asynccontextmanager
async def folder_stores(data: Path, clock: Clock) -> AsyncGenerator[RunStores]:
    """Lock the state of a folder for this process and open it. Raises ConfigError, TemporaryError, Corrupt."""
    async with served_state(data, clock) as state:
        yield RunStores(state.stores, installation_key(data))
