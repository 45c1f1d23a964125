from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    exec("1")
    eval("1")
    __import__("json")
    literal_eval = json = run
    return None
