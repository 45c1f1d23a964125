"""The rule for calls that take something out of a private place: whether a tool writes, and where.

Where a run began it may write. Anything else it writes, to another system or another place of the same one, takes with
it what it read. Which of its arguments say where, each tool declares (`tools/written.py`).
"""

from gofer.engine.step import Permitted
from gofer.events import Event


def leaves(item: Permitted, event: Event, *, private: bool) -> bool:
    """Whether a call of a private run writes anywhere but where the run began."""
    if not private or item.tool.effect == "read":
        return False
    writes = item.tool.writes
    if writes is None or item.tool.name.partition("_")[0] != event.source:
        return True
    return not writes.here(_said(item), event.place)


def at_origin(item: Permitted, event: Event) -> bool:
    """Return whether a call writes nowhere but where the run was asked."""
    writes = item.tool.writes
    if writes is None or item.tool.name.partition("_")[0] != event.source:
        return False
    return writes.at(_said(item), event.place)


def _said(item: Permitted) -> dict[str, object]:
    return item.arguments.model_dump(mode="json", exclude_defaults=True)
