"""A script that posts a report about the runs of the week to the channel of each owner."""

from gofer.coordinator import Run, ToolFailed

DAYS = 7


async def coordinate(run: Run) -> str | None:
    """Post one message to each channel; a channel that Gofer cannot write to keeps no other from its message."""
    statistics = await run.call("run_statistics", days=DAYS, reports=True)
    missed: list[str] = []
    for report in statistics["reports"]:
        try:
            await run.call("slack_post_message", channel=report["channel"], text=report["text"])
        except ToolFailed as error:
            missed.append(f"- {report['channel']}: {error.text}")
    if missed:
        return "\n".join(["These channels got no report:", *missed])
    return None
