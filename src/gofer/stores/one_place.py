"""The stores of one place together: its journals, its bodies and its queue.

A place is a folder on one machine, a stage on AWS or the memory of a test. The three stores refer to each other: a run
that is claimed in the journals has its bodies and its queue messages in the same place. They are therefore passed as
one value.
"""

from dataclasses import dataclass

from gofer.journal.blob_store import Blobs, Bodies
from gofer.journal.store import Store
from gofer.stores.queue import Queue


@dataclass(frozen=True, slots=True)
class FrontStores:
    """The stores for a receiver, which claims runs and removes no bodies."""

    journals: Store
    """Frames and coordination rows."""
    blobs: Bodies
    queue: Queue


@dataclass(frozen=True, slots=True)
class Stores(FrontStores):
    """The stores for workers and operators."""

    blobs: Blobs
