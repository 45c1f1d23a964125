"""Coordinator: what a script of `coordinators/` may import of Gofer, and all it may import of it.

    from gofer.coordinator import Run

    async def coordinate(run: Run) -> str | None:
        ...

docs/write-a-script.md shows the whole of it.
"""

from gofer.coordinator.run import Run, ToolFailed
from gofer.events import Actor, Event

__all__ = ["Actor", "Event", "Run", "ToolFailed"]
