"""Would this call take something out of a private channel? One rule for every tool: whether it writes, and where.

Where a run began it may write. Anything else it writes, to another system or another place of the same one, takes with
it what it read.
"""

from gofer.engine.step import Permitted
from gofer.events import Event

_PLACES = frozenset(
    {"channel", "issue", "key", "project", "page", "page_id", "parent", "database", "repository", "number"}
)
"""What tools call the argument that says where they write; one that is left out means where the run began."""
_HERE = ("channel", "issue", "issue_id", "page", "repository", "number")
"""What events call where they happened. Their other coordinates, such as an emoji, may be called as some place is."""


def leaves(item: Permitted, event: Event, *, private: bool) -> bool:
    """Whether a call of a private run writes anywhere but where the run began."""
    if not private or item.tool.effect == "read":
        return False
    return item.tool.name.partition("_")[0] != event.source or _elsewhere(item, event)


def _elsewhere(item: Permitted, event: Event) -> bool:
    here = {event.place[name].casefold() for name in _HERE if name in event.place}
    given = item.arguments.model_dump(mode="json", include=set(_PLACES))
    named = [str(value).removeprefix("#").casefold() for value in given.values() if value not in ("", None)]
    return any(name not in here for name in named)
