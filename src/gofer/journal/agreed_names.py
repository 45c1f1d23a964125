"""The one name of a run or a memo while an installation recognises several keys.

Each key gives the same thing another name. A thing that exists keeps its name. For a new one, all processes agree on a
name by an atomic exchange of a memo, so two of them with different current keys never make it twice. With one key
and without former names nothing is read or written.
"""

from collections.abc import Awaitable, Callable, Sequence

from gofer.journal.coordination import AGED_MS
from gofer.journal.store import Store


async def agreed_name(
    names: Sequence[str],
    exists: Callable[[str], Awaitable[bool]],
    store: Store,
    now: Callable[[], int],
    former: Sequence[str] = (),
) -> str:
    """Return the name that every process uses. Raises TemporaryError.

    `names` are those under each recognised key, that of the current key first. `exists` tells whether something has
    a name. `now` returns the current time in unix milliseconds. `former` are the names that earlier versions gave.
    """
    current, *others = names
    for name in (*others, *former):
        if await exists(name):
            return name
    if not others:
        return current
    # The memo has the same key in every process, in whatever order it lists the keys.
    return await store.exchange_memo(f"agreed:{min(names)}", None, current, now() - AGED_MS)
