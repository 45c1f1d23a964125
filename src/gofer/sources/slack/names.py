"""Names in place of Slack's ids, for texts that a model reads.

No `<@U…>` reaches a model: people, channels and groups are shown by name, and links as text and address.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.tools.definition import Arguments, Call
from gofer.tools.mock_ids import NAME, SECONDS, code, digits
from gofer.values.canonical_json import as_list, as_object, as_text

ID = re.compile(r"[CDG][A-Z0-9]{6,}")
"""The pattern of a channel's id."""
_ENTITY = re.compile(r"<([^<>]*)>")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
UNKNOWN = "unknown user"
PAGE = 999
"""The entries per page of a list. Slack accepts an integer under 1,000."""
CHANNEL_PAGES = 20
"""The most pages of channels that are read to find a channel by name."""
LOOKUPS = 200
"""The most people that are looked up for one reading. Further people are shown as unknown users."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the people in one reading, by id."""

    people: Mapping[str, str]

    def person(self, user: str) -> str:
        """Return the name of a person, or `unknown user`; never an id."""
        return one_line(self.people.get(user, "")) or UNKNOWN

    def text(self, mrkdwn: str) -> str:
        """Return a message's text with names in place of ids, unescaped."""
        text = _ENTITY.sub(lambda match: self._entity(match[1]), mrkdwn)
        for escaped, char in _ESCAPES:
            text = text.replace(escaped, char)
        return text

    def _entity(self, inside: str) -> str:
        target, _, label = inside.partition("|")
        match target[:1]:
            case "@":
                return f"@{one_line(self.people.get(target[1:], label)) or UNKNOWN}"
            case "#":
                return f"#{label or 'unknown-channel'}"
            case "!":
                return _special(target[1:], label)
            case _:
                if label and label != target:
                    return f"{label} ({target})"
                return target


def one_line(name: str) -> str:
    """Return a name on one line and cut, so that it is safe in a header."""
    return " ".join(name.split())[:80]


def mentioned(texts: Iterable[str]) -> set[str]:
    """Return the ids of all people that the texts mention."""
    return {user for text in texts for user in _MENTION.findall(text)}


async def look_up(api: SlackApi, call: Call, users: Iterable[str]) -> Names:
    """Return the names of people. A person that Slack does not know has no name.

    People without a name in `call.run.names` are looked up, concurrently.
    """
    known = sorted(user for user in set(users) if user)[:LOOKUPS]
    names = await asyncio.gather(*(_name(api, call, user) for user in known))
    return Names({user: name for user, name in zip(known, names, strict=True) if name})


async def find_channel(api: SlackApi, call: Call, name: str) -> str:
    """Return the id of a public channel by its name. Raises SlackRefusal if Gofer can see no such channel."""
    asked = {"limit": PAGE, "cursor": "", "exclude_archived": "true", "types": "public_channel"}
    async for page in api.pages(call, "conversations.list", CHANNEL_PAGES, **asked):
        for channel in map(as_object, as_list(page.get("channels"))):
            if as_text(channel.get("name")) == name:
                return as_text(channel.get("id"))
    raise SlackRefusal("conversations.list", "channel_not_found")


async def _name(api: SlackApi, call: Call, user: str) -> str:
    if noted := call.run.names.get(_key(user)):
        return noted
    try:
        found = as_object((await api.read(call, "users.info", user=user)).get("user"))
    except SlackRefusal:
        return ""
    return note_name(call, user, found)


def note_name(call: Call, user: str, person: Mapping[str, object]) -> str:
    """Return the name of a person, and keep it for the texts of later calls of the run."""
    profile = as_object(person.get("profile"))
    name = as_text(profile.get("display_name")) or as_text(profile.get("real_name")) or as_text(person.get("name"))
    call.run.names[_key(user)] = name
    return name


def _key(user: str) -> str:
    return f"slack:{user}"


def _special(target: str, label: str) -> str:
    kind, _, rest = target.partition("^")
    match kind:
        case "here" | "channel" | "everyone":
            return f"@{kind}"
        case "subteam":
            return label or "@unknown-group"
        case _:
            return label or rest


MOCK_USER = "U0MOCKED0"
MOCK_NAMES = Names({MOCK_USER: NAME})


def mock_messages(ts: str) -> Sequence[Mapping[str, object]]:
    """Return the one message of every mocked thread and channel."""
    return [{"ts": ts, "thread_ts": ts, "user": MOCK_USER, "text": "Could somebody look at this?"}]


def mock_channel_name(channel: str) -> str:
    """Return the mocked name of a channel, given by name or id."""
    if ID.fullmatch(channel):
        return "somewhere"
    return channel


def mock_channel_id(channel: str) -> str:
    """Return the mocked id of a channel, given by name or id."""
    if ID.fullmatch(channel):
        return channel
    return f"C{code(channel)}"


def mock_ts(arguments: Arguments) -> str:
    """Return the ts of a mocked message, derived from the call's arguments."""
    return f"{SECONDS}.{digits(arguments, 6)}"
