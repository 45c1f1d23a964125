from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    print(run.event.text)
    return input()
