from gofer.coordinator import Run


async def post(run: Run) -> None:
    await run.call('slack_post_message')


name = 'x'
