"""The channels of Slack as places: which one a call names, who may see it, and what is known of it from a run."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from gofer.sources.listed_places import entry
from gofer.sources.part_values import Details, Known, OwnCall, Standpoint
from gofer.sources.slack.api import SlackApi, SlackRefusal, next_cursor
from gofer.sources.slack.names import ID, PAGE, find_channel, mock_channel_id, mock_channel_name, one_line
from gofer.sources.slack.scopes import scopes
from gofer.sources.source import Places
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.events import Event

ABSENT = "channel_not_found"
"""Slack's code for a channel that does not exist or that Gofer does not see."""

PAGES = 10
"""Pages of one person's channels that are read at most; a person of more channels is a member of none."""
UNSEEN = ToolResult("Not seen.", "looked up a place", {"id": "", "name": ""})
"""What is known of a channel that the run may not know of, and of one that does not exist: the same."""
HIDDEN = SlackRefusal("conversations.info", ABSENT)
"""What a run is told of such a channel."""


class InChannel(Protocol):
    """Arguments that name a channel."""

    @property
    def channel(self) -> str:
        """Return its name or id; empty for the channel that the request came from."""
        ...


class FindPlace(Arguments):
    """Which channel, for whom."""

    channel: str = Field(description="Name or id of the channel.")
    asker: str = Field(default="", description="Id of the person who started the run; empty for no person of Slack.")
    listed: tuple[str, ...] = Field(default=(), description="Names and ids that the workflow file lists.")


def channel_place(origin: Origin, arguments: InChannel) -> Place:
    """Return the channel that a call names. Raises ToolError."""
    return Place("slack", "channel", channel_name(origin, arguments.channel), "channel")


def in_channel(*content: str) -> Writes:
    """Return what a tool writes that acts in one channel; `content` are its other arguments."""
    # People who see one thread of a channel see them all.
    return Writes({"channel": is_at}, frozenset(content))


@tool(
    effect="read",
    internal=True,
    scopes=scopes("conversations.list", "conversations.info", "users.conversations"),
)
async def slack_find_place(api: SlackApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up a channel: whether everybody may see it, and whether one person is in it."""
    # The requests are the same for a hidden channel and for none.
    member_of = await _channels_of(api, call, arguments.asker)
    channel = arguments.channel
    try:
        if not ID.fullmatch(channel):
            channel = await find_channel(api, call, channel)
        info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    except SlackRefusal as refused:
        if refused.retry_after:
            raise
        return UNSEEN
    name = one_line(as_text(info.get("name")))
    return place_result(
        channel,
        name,
        public=not is_private(info),
        member=channel in member_of,
        own=info.get("is_im") is True and bool(arguments.asker) and info.get("user") == arguments.asker,
        listed=channel in arguments.listed or f"#{name}" in arguments.listed,
    )


@slack_find_place.mock
def _mock(arguments: FindPlace) -> ToolResult:
    """Return a public channel that every person is in."""
    listed = {arguments.channel, f"#{arguments.channel}"} & {*arguments.listed}
    return place_result(
        mock_channel_id(arguments.channel),
        mock_channel_name(arguments.channel),
        public=True,
        member=bool(arguments.asker),
        own=False,
        listed=bool(listed),
    )


def place_result(channel: str, name: str, *, public: bool, member: bool, own: bool, listed: bool) -> ToolResult:
    """Return a channel that was looked up; nothing is told of one that is none of the four.

    Details: id and name, whether it is `public`, whether the asker is a `member`, whether it is the asker's `own`
    direct message, whether the file has it `listed`.
    """
    if not (public or member or own or listed):
        return UNSEEN
    known = {"public": public, "member": member, "own": own, "listed": listed}
    return ToolResult("Seen.", UNSEEN.summary, {"id": channel, "name": name, **known})


async def _channels_of(api: SlackApi, call: Call, person: str) -> frozenset[str]:
    """Return the ids of the channels that a person is in, as far as Gofer sees them. Raises SlackRefusal."""
    if not person:
        return frozenset()
    asked = {"user": person, "types": "public_channel,private_channel", "limit": PAGE, "cursor": ""}
    pages = [page async for page in api.pages(call, "users.conversations", PAGES, **asked)]
    if next_cursor(pages[-1]):
        return frozenset()
    return frozenset(as_text(as_object(one).get("id")) for page in pages for one in as_list(page.get("channels")))


def is_direct(event: Event) -> bool:
    """Return whether an event happened in a direct message."""
    return event.place.get("channel", "").startswith("D")


def _home(event: Event) -> str:
    return event.place.get("channel", "")


def _look_up(place: Place, seen_from: Standpoint) -> Known | OwnCall:
    if place.kind == "person":
        return Known(own=bool(seen_from.asker) and place.name == seen_from.asker)
    if seen_from.home and place.name == seen_from.home:
        return Known(home=True)
    asked: dict[str, object] = {"channel": place.name, "listed": list(seen_from.writes.one_by_one("slack"))}
    if seen_from.asker:
        asked["asker"] = seen_from.asker
    return OwnCall("slack_find_place", asked)


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    channel = as_text(details.get("id"))
    public = details.get("public") is True
    if not channel and not ID.fullmatch(place.name):
        # A name of no place cannot be asked about either: another channel may get it before the call is made.
        raise HIDDEN
    return Known(
        channel,
        "#" * bool(details.get("name")) + as_text(details.get("name")),
        home=bool(seen_from.home) and channel == seen_from.home,
        listed=details.get("listed") is True or (public and seen_from.writes.lists_all_public("slack")),
        public=public,
        member=details.get("member") is True,
        own=details.get("own") is True,
    )


def _entry(place: Place) -> str:
    if place.kind == "channel":
        return f'slack: ["{place}"]'
    return entry(place)


async def channel_id(api: SlackApi, call: Call, channel: str) -> str:
    """Return the id of a channel named by a model, or of the one the request came from. Raises ToolError."""
    name = channel_name(call, channel)
    if ID.fullmatch(name):
        return name
    return await find_channel(api, call, name)


def channel_name(call: Origin, channel: str) -> str:
    """Return the id or the name of a channel, the one the request came from when none is named. Raises ToolError."""
    if channel:
        return channel.removeprefix("#")
    if here := call.place.get("channel"):
        return here
    raise ToolError("Say which channel, as #name: the request did not come from Slack.")


def is_at(channel: str, place: Mapping[str, str]) -> bool:
    """Return whether an id means the channel of an event's place; the meaning of a name has to be looked up."""
    return bool(channel) and channel.removeprefix("#") == place.get("channel")


def is_private(info: Mapping[str, object]) -> bool:
    """Return whether a channel is private; all that is not plainly public is."""
    flags = ("is_private", "is_im", "is_mpim", "is_ext_shared")
    return info.get("is_channel") is not True or any(info.get(flag) is True for flag in flags)


def check_readable(call: Call, channel: str, info: Mapping[str, object]) -> None:
    """Raise what Slack says of a channel that does not exist, for a private one that the run may not read."""
    if is_private(info) and channel != call.place.get("channel") and not call.cleared:
        raise SlackRefusal("conversations.info", ABSENT)


PLACES = Places(_look_up, _found, _entry, tools=("slack_find_place",), home=_home, is_own=is_direct, hidden=HIDDEN)
