"""What does Slack make of the words a person types?"""

import re
from collections.abc import Iterable

from gofer.simulators.slack.workspace import Workspace

_URL = r"https?://[^\s<>]*[^\s<>.,;:!?)\]'\"]"


def typed(workspace: Workspace, text: str) -> str:
    """Typed words in wire form: escaped, `@Name` a mention, `#name` a channel, addresses as links."""
    people = {_escaped(user.name).casefold(): user.id for user in workspace.users.values()}
    channels = {channel.name.casefold(): channel for channel in workspace.channels.values()}
    special = re.compile(
        f"(?P<url>{_URL})|(?<![\\w@])@(?P<person>{_any(people)})(?!\\w)|(?<![\\w#])#(?P<channel>{_any(channels)})(?!\\w)",
        re.IGNORECASE,
    )

    def entity(found: re.Match[str]) -> str:
        if found["url"]:
            return f"<{found['url']}>"
        if found["person"]:
            return f"<@{people[found['person'].casefold()]}>"
        channel = channels[found["channel"].casefold()]
        return f"<#{channel.id}|{channel.name}>"

    return special.sub(entity, _escaped(text.replace("\r\n", "\n").strip()))


def _any(names: Iterable[str]) -> str:
    # Longest first: "@Release Captain" is not "@Release".
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
