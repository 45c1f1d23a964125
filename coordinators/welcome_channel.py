"""Joins new public project channels, and says once in each what it does there."""

from gofer.coordinator import Run

WELCOME = "I read nothing here until somebody mentions me."
MORE = (
    "Then I read that thread and what it links to, and answer in it. Add :jira: to a message to make its thread a "
    "ticket. Remove me from the channel whenever you like."
)
MESSAGES = 50
"""How many of the newest messages are looked at for what was said before."""


async def coordinate(run: Run) -> None:
    """A new channel is joined; there, and wherever somebody invited Gofer, it says what it does."""
    channel = run.event.place["channel"]
    if run.event.kind == "slack.channel_created":
        await run.call("slack_join_channel", channel=channel)
    # Whoever made the channel may have invited Gofer too. Runs about one channel come one after the other.
    said = await run.call("slack_read_channel", channel=channel, limit=MESSAGES)
    if not any(message["text"].startswith(WELCOME) for message in said["messages"]):
        await run.call("slack_post_message", channel=channel, text=f"{WELCOME} {MORE}")
