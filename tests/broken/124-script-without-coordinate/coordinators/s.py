from gofer.coordinator import Run


async def run(run: Run) -> None:
    pass
