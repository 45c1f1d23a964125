"""Which run does somebody mean by the first characters of its id?"""

from gofer.errors import ConfigError
from gofer.journal.coordination import Head
from gofer.journal.store import Store


async def listed(store: Store, prefix: str) -> Head:
    """The one run that begins so and that people may see. Raises ConfigError when there is none or more than one."""
    found = [head for head in await store.heads(10_000) if head.run.startswith(prefix)]
    if len(found) != 1:
        problem = "There is no run" if not found else f"{len(found)} runs begin with"
        raise ConfigError(f"{problem} {prefix!r}; `gofer runs` lists the newest.")
    return found[0]
