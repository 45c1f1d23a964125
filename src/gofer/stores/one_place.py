"""The stores of one place together: its journals, its bodies and its queue.

A place is a folder on one machine, a stage on AWS or the memory of a test. A run that is claimed in one of the three
is continued from the other two, so they are passed as one value and are never mixed.
"""

from dataclasses import dataclass

from gofer.journal.blob_store import Blobs, Bodies
from gofer.journal.store import Store
from gofer.stores.queue import Queue


@dataclass(frozen=True, slots=True)
class FrontStores:
    """The stores as a receiver needs them: it claims runs and removes no body."""

    journals: Store
    """Frames and the coordination rows beside them."""
    blobs: Bodies
    queue: Queue


@dataclass(frozen=True, slots=True)
class Stores(FrontStores):
    """The stores as a worker and an operator need them."""

    blobs: Blobs
