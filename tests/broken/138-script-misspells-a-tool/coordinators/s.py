from coordinators import near
from gofer.coordinator import Run

async def coordinate(job: Run) -> str | None:
    await job.call('slack_read_thred')
    await job.call('slack_add_reaction')
    await job.call(near.name)
    return None
