from coordinators.shard import words
import coordinators.shared
from coordinators import shared
from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    return None
