from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    return await run.subagent('clasify', 'x')
