"""Which calls did the owner of a run take for itself among all runs?"""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Claims:
    """Those of a run and of all its subagents, which are in the same hands."""

    taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One is taken after the other: what one branch finds free, another may just be taking up again."""
    taken: set[str] = field(default_factory=set[str])
    """Begun or about to, as `<run>/<call>`."""
