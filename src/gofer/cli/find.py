"""Which run does a person mean by the first characters of its id?"""

from gofer.errors import ConfigError
from gofer.journal.coordination import Head
from gofer.journal.store import Store


async def find_run(store: Store, prefix: str) -> Head:
    """The only run that may be listed and whose id begins so. Raises ConfigError."""
    found = [head for head in await store.heads(10_000) if prefix and head.run.startswith(prefix)]
    if len(found) != 1:
        problem = "There is no run" if not found else f"{len(found)} runs begin with"
        raise ConfigError(f"{problem} {prefix!r}; `gofer runs` lists the newest.")
    return found[0]
