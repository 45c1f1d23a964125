"""A script that joins new public project channels and introduces Gofer once in each channel."""

from gofer.coordinator import Run

WELCOME = "I read nothing here until somebody mentions me."
MORE = (
    "Then I read that thread and what it links to, and answer in it. Add :jira: to a message to make its thread a "
    "ticket. Remove me from the channel whenever you like."
)
MESSAGES = 50
"""How many of the newest messages the script searches for an earlier welcome."""


async def coordinate(run: Run) -> None:
    """Join a new channel, and post the welcome unless the channel already has it."""
    channel = run.event.place["channel"]
    if run.event.kind == "slack.channel_created":
        await run.call("slack_join_channel", channel=channel)
    # A person who creates a channel and invites Gofer starts two runs. They work one after the other, so the second
    # one finds the welcome of the first.
    recent = await run.call("slack_read_channel", channel=channel, limit=MESSAGES)
    if not any(message["text"].startswith(WELCOME) for message in recent["messages"]):
        await run.call("slack_post_message", channel=channel, text=f"{WELCOME} {MORE}")
