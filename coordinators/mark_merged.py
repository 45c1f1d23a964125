"""A script that adds an emoji to messages with a pull request, once the pull request is merged or closed."""

import re
from collections.abc import Mapping
from typing import Any

from gofer.coordinator import Run, ToolFailed

CHANNEL = "#pull-requests"
MESSAGES = 50
"""How many of the newest messages the script reads."""
MERGED = "merged"
"""The emoji for a merged pull request. A workspace has to add this emoji itself."""
CLOSED = "no_entry_sign"
"""The emoji for a pull request that was closed without a merge."""

PULL = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/pull/(\d+)")


async def coordinate(run: Run) -> None:
    """Add the emoji to each message that links exactly one pull request and has no such emoji yet."""
    channel = await run.call("slack_read_channel", channel=CHANNEL, limit=MESSAGES)
    waiting = [message for message in channel["messages"] if len(_pulls(message)) == 1 and not _marked(message)]
    await run.gather(*(_mark(run, message, *_pulls(message)[0]) for message in waiting))


async def _mark(run: Run, message: Mapping[str, Any], repository: str, number: str) -> None:
    try:
        pull = await run.call("github_get_pull_request", repository=repository, number=int(number))
    except ToolFailed:
        return  # Gofer has no access to the pull request, or it does not exist.
    if pull["state"] != "closed":
        return
    emoji = CLOSED
    if pull["merged"]:
        emoji = MERGED
    await run.call("slack_add_reaction", channel=CHANNEL, ts=message["ts"], emoji=emoji)


def _pulls(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return repository and number of each pull request that a message links to, each once."""
    return list(dict.fromkeys(PULL.findall(" ".join([message["text"], *message["links"]]))))


def _marked(message: Mapping[str, Any]) -> bool:
    return not {MERGED, CLOSED}.isdisjoint(message["reactions"])
