"""Adds an emoji to messages that post a pull request, once it was merged or closed."""

import re
from collections.abc import Mapping
from typing import Any

from gofer.coordinator import Run, ToolFailed

CHANNEL = "#pull-requests"
MESSAGES = 50
"""How many of the newest messages are looked at."""
MERGED, CLOSED = "merged", "no_entry_sign"
"""Emoji for pull requests that were merged, and for those closed without. A workspace has to add `merged` itself."""

PULL = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/pull/(\d+)")


async def coordinate(run: Run) -> None:
    """Marks every message with exactly one pull request that is done with."""
    channel = await run.call("slack_read_channel", channel=CHANNEL, limit=MESSAGES)
    waiting = [message for message in channel["messages"] if len(_pulls(message)) == 1 and not _marked(message)]
    await run.gather(*(_mark(run, message, *_pulls(message)[0]) for message in waiting))


async def _mark(run: Run, message: Mapping[str, Any], repository: str, number: str) -> None:
    try:
        pull = await run.call("github_get_pull_request", repository=repository, number=int(number))
    except ToolFailed:
        return  # no access, or it is gone: nothing to say about it
    if pull["state"] == "closed":
        emoji = MERGED if pull["merged"] else CLOSED
        await run.call("slack_add_reaction", channel=CHANNEL, ts=message["ts"], emoji=emoji)


def _pulls(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pull requests that a message links to, each once."""
    return list(dict.fromkeys(PULL.findall(" ".join([message["text"], *message["links"]]))))


def _marked(message: Mapping[str, Any]) -> bool:
    return not {MERGED, CLOSED}.isdisjoint(message["reactions"])
