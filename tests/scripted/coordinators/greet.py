from coordinators.words import counted

from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    thread, word = await run.gather(run.call("slack_read_thread"), run.subagent("word", run.event.text))
    place = run.event.place
    number = run.random().randrange(10**9)
    await run.gather(
        run.call("slack_add_reaction", ts=place["ts"], emoji="eyes"),
        run.call("slack_post_message", thread_ts=place["thread_ts"], text=f"Note {number}: {word}"),
    )
    return f"Noted as {number}, after {counted(thread['text'])}."
