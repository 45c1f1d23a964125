from gofer.coordinator import Run


async def coordinate(run: Run, event: dict) -> str | None:
    return None
