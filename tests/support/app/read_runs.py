"""A client of the pages of one machine, over the stores of a memory run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from starlette.applications import Starlette
from typing_extensions import override

from gofer.app.pages.readers import LocalReaders, Readers
from gofer.app.pages.run_pages import Pages
from gofer.journal.blob_store import BUNDLES
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import encode_bundle
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import MemoryRun


class BundleOf(MemoryBlobs):
    """The bodies of a memory run, with the bundle that its journal names."""

    def __init__(self, made: MemoryRun) -> None:
        super().__init__()
        self._made = made

    @override
    async def get(self, key: str) -> bytes:
        if key == f"{BUNDLES}/bundle":
            return encode_bundle(self._made.bundle())
        return await self._made.blobs.get(key)


async def record_of(made: MemoryRun) -> RunRecord:
    """Return the record of a memory run with its bundle."""
    record = await RunReader(_stores(made), made.clock, {}).read("run1", OPERATOR)
    assert record is not None
    return record


@asynccontextmanager
async def pages_of(made: MemoryRun, readers: Readers | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client of the pages over the stores of a memory run."""
    pages = Pages(_stores(made), Catalog({}, Defaults()), made.clock, readers or LocalReaders())
    transport = httpx2.ASGITransport(app=Starlette(routes=pages.routes()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://gofer") as client:
        yield client


def _stores(made: MemoryRun) -> Stores:
    return Stores(made.store, BundleOf(made), MemoryQueue(made.clock))
