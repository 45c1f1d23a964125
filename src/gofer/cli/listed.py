"""Which run does somebody mean by its id, or by the first characters of it?"""

from gofer.errors import ConfigError
from gofer.journal.coordination import Head
from gofer.journal.store import Store


async def listed(store: Store, prefix: str) -> Head:
    """The one run that begins so and that people may see. Raises ConfigError when there is none or more than one."""
    if not prefix:
        raise ConfigError("The id of the run is empty; `gofer runs` lists the newest.")
    whole = await store.head(prefix)
    if whole is not None and not whole.private:
        # Also when it is older than those that a list holds.
        return whole
    found = [head for head in await store.heads(10_000) if head.run.startswith(prefix)]
    if len(found) != 1:
        problem = "There is no run" if not found else f"{len(found)} runs begin with"
        raise ConfigError(f"{problem} {prefix!r}; `gofer runs` lists the newest.")
    return found[0]
