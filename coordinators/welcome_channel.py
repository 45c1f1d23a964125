"""Joins new public project channels, and says once in each what it does there."""

from gofer.coordinator import Run

WELCOME = (
    "I read nothing here until somebody mentions me. Then I read that thread and what it links to, and answer in it. "
    "Add :jira: to a message to make its thread a ticket. Remove me from the channel whenever you like."
)


async def coordinate(run: Run) -> None:
    """A new channel is joined; whoever invited Gofer to one, also by this, reads what it does."""
    channel = run.event.place["channel"]
    if run.event.kind == "slack.channel_created":
        # Joining is told by another event, which brings the message: said once, whoever invited.
        await run.call("slack_join_channel", channel=channel)
    else:
        await run.call("slack_post_message", channel=channel, text=WELCOME)
