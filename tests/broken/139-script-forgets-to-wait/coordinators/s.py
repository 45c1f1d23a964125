from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    run.call('slack_read_thread')
    waiting = run.call('slack_read_thread')
    await waiting
    return None
