"""How does the front follow what is published? By the small part of a bundle: routes, hooks and schedules.

It lies on the way of a cold start to its first 2xx: no YAML, no pydantic.
"""

from collections.abc import Callable
from typing import TypeVar

from gofer.values.outside import Clock
from gofer.workflows.published import PATIENCE, BundleStore, Compiled, Live, read_compiled, routes_key

T = TypeVar("T")


def live_front(
    shelf: BundleStore,
    clock: Clock,
    build: Callable[[Compiled], T],
    packaged: bytes | None = None,
    patience: float = PATIENCE,
) -> Live[T]:
    """What `build` makes of the published routes, hooks and schedules, made anew whenever others are published.

    `packaged` is the small part that came with the code: it counts as long as nothing was ever published. `patience` is
    how many seconds a request of a later look may take.
    """

    def load(raw: bytes) -> T:
        return build(read_compiled(raw))

    return Live(shelf, clock, routes_key, load, load(packaged) if packaged else None, patience)
