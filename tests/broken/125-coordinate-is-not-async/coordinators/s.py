from gofer.coordinator import Run


def coordinate(run: Run) -> str | None:
    return None
