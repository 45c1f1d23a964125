"""Parts of a worker that tests replace: its stores and its workflows."""

from dataclasses import dataclass, replace

from gofer.engine.services import Services
from gofer.journal.blob_store import Blobs
from gofer.journal.store import Store
from gofer.runtime.worker import Worker
from gofer.stores.queue import Queue
from gofer.workflows.load import Catalog


@dataclass(frozen=True, slots=True)
class FixedCatalog:
    """One catalog for all runs of a worker."""

    catalog: Catalog

    async def holding(self, workflow: str) -> Catalog:
        """Return the catalog, which is the same for every workflow."""
        return self.catalog


def catalog_of(worker: Worker) -> Catalog:
    """Return the catalog of a worker whose workflows do not change."""
    assert isinstance(worker.workflows, FixedCatalog)
    return worker.workflows.catalog


def over(
    services: Services, *, store: Store | None = None, blobs: Blobs | None = None, queue: Queue | None = None
) -> Services:
    """Return the services with other stores. A store that is not given stays."""
    stores = services.stores
    others = replace(
        stores, journals=store or stores.journals, blobs=blobs or stores.blobs, queue=queue or stores.queue
    )
    return replace(services, stores=others)


def worker_over(
    worker: Worker, *, store: Store | None = None, blobs: Blobs | None = None, queue: Queue | None = None
) -> Worker:
    """Return the worker with other stores. A store that is not given stays."""
    return replace(worker, services=over(worker.services, store=store, blobs=blobs, queue=queue))
