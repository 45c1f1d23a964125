"""The channels of Slack as places: the channel that a call names, its readers, and the facts that a run may know."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from pydantic import Field

from gofer.sources.listed_places import entry, is_named
from gofer.sources.part_values import Details, Known, OwnCall, Standpoint
from gofer.sources.slack.api import SlackApi, SlackRefusal, next_cursor
from gofer.sources.slack.names import ID, PAGE, mock_channel_id, mock_channel_name, one_line
from gofer.sources.slack.scopes import scopes
from gofer.sources.source import Places
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.tools.readable import readers
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.events import Event

ABSENT = "channel_not_found"
"""Slack's code for a channel that does not exist or that Gofer cannot see."""

DIRECT = ("a direct message", "a group direct message")
"""The names that are shown for conversations without a name, with one person and with several."""
CHANNEL_PAGES = 20
"""The most pages of channels that are read to find a channel by name."""
PAGES = 10
"""The most pages of one person's channels that are read. A person with more channels counts as a member of none."""
UNSEEN = ToolResult("Not seen.", "looked up a place", {"id": "", "name": ""})
"""The same result for a channel that must stay hidden from the run and for a channel that does not exist."""
HIDDEN = SlackRefusal("conversations.info", ABSENT)
"""The error for such a channel."""


MESSAGE_LINK = re.compile(r"/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*?thread_ts=(\d+\.\d+))?")
"""A link to a message: channel, seconds, the rest of its ts, and the ts of its thread."""


class InChannel(Protocol):
    """Arguments that name a channel."""

    @property
    def channel(self) -> str:
        """Return the name or id of the channel; empty for the channel of the request."""
        ...


class FindPlace(Arguments):
    """The channel to look up, and the asker."""

    channel: str = Field(description="Name or id of the channel.")
    asker: str = Field(default="", description="Id of the person who started the run; empty for no person of Slack.")
    listed: tuple[str, ...] = Field(default=(), description="Names and ids that the workflow file lists.")


def channel_place(origin: Origin, arguments: InChannel) -> Place:
    """Return the channel that a call names. Raises ToolError."""
    return Place("slack", "channel", channel_name(origin, arguments.channel), "channel")


class InThread(InChannel, Protocol):
    """Arguments that name a channel and a thread in it."""

    @property
    def thread_ts(self) -> str:
        """Return the ts of the thread; empty for the channel itself."""
        ...


def thread_place(origin: Origin, arguments: InThread) -> Place:
    """Return the channel and the thread that a call writes into. Raises ToolError."""
    return replace(channel_place(origin, arguments), thread=arguments.thread_ts)


def in_channel(*content: str) -> Writes:
    """Return the writes of a tool that acts in one channel. `content` names its other arguments."""
    # A thread has the same readers as its channel, so the channel alone is the destination.
    return Writes({"channel": is_at}, frozenset(content))


@tool(
    effect="read",
    internal=True,
    scopes=scopes("conversations.list", "conversations.info", "users.conversations"),
)
async def slack_find_place(api: SlackApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up a channel: whether it is public, and whether the asker is a member."""
    # A hidden channel must cause the same requests as a missing one, so this request always comes first.
    member_of = await _channels_of(api, call, arguments.asker)
    channel = arguments.channel
    try:
        if not ID.fullmatch(channel):
            channel, private = await _find_channel(api, call, arguments.channel)
            listed = {channel, f"#{arguments.channel}"} & {*arguments.listed}
            if private and not listed and channel not in member_of:
                return UNSEEN
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
    """Return a public channel with every person as a member."""
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
    """Return the result for a channel, or UNSEEN if none of the four flags is set.

    Details: id and name, whether the channel is `public`, whether the asker is a `member`, whether it is the asker's
    `own` direct message, and whether the workflow file has it `listed`.
    """
    if not (public or member or own or listed):
        return UNSEEN
    known = {"public": public, "member": member, "own": own, "listed": listed}
    return ToolResult("Seen.", UNSEEN.summary, {"id": channel, "name": name, **known})


async def _channels_of(api: SlackApi, call: Call, person: str) -> frozenset[str]:
    """Return the ids of a person's channels that Gofer can see. Raises SlackRefusal."""
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
    if seen_from.home and place.name == seen_from.home and _is_in_thread(place, seen_from):
        return Known(home=True)
    if place.thread is not None and ID.fullmatch(place.name) and place.name in seen_from.writes.one_by_one("slack"):
        return Known(listed=True)
    asked: dict[str, object] = {"channel": place.name, "listed": list(seen_from.writes.one_by_one("slack"))}
    if seen_from.asker:
        asked["asker"] = seen_from.asker
    return OwnCall("slack_find_place", asked)


def _is_in_thread(place: Place, seen_from: Standpoint) -> bool:
    """Return whether a call in the channel of the request is for the thread of the request, or for no thread."""
    return place.thread in (None, seen_from.thread) or seen_from.home.startswith("D")


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    channel = as_text(details.get("id"))
    name = as_text(details.get("name"))
    public = details.get("public") is True
    member = details.get("member") is True
    if not channel and not ID.fullmatch(place.name):
        # Gofer cannot ask a person about an unknown name either: a new channel could take the name before the call.
        raise HIDDEN
    return Known(
        channel,
        "#" * bool(name) + name,
        home=bool(seen_from.home) and channel == seen_from.home and _is_in_thread(place, seen_from),
        listed=details.get("listed") is True or (public and seen_from.writes.lists_all_public("slack")),
        public=public,
        member=member,
        own=details.get("own") is True,
        named=(public or member) and _is_named(channel, name, place.thread, seen_from.words),
    )


def _is_named(channel: str, name: str, thread: str | None, words: str) -> bool:
    """Return whether a person's words name a channel: as Slack links it, by its name, or by a link to it.

    A link to a message names no more than the thread of this message.
    """
    if re.search(rf"<#{channel}[|>]|/archives/{channel}(?![A-Z0-9]|/p\d)", words) or (
        name and is_named(f"#{name}", words)
    ):
        return True
    links = [found for found in MESSAGE_LINK.findall(words) if found[0] == channel]
    return any(thread in (None, within or f"{seconds}.{rest}") for _, seconds, rest, within in links)


def _entry(place: Place) -> str:
    if place.kind == "channel":
        return f'slack: ["{place}"]'
    return entry(place)


async def channel_id(api: SlackApi, call: Call, channel: str) -> str:
    """Return the id of the channel that a model names, or else of the request's channel. Raises ToolError."""
    name = channel_name(call, channel)
    if ID.fullmatch(name):
        return name
    found, _ = await _find_channel(api, call, name)
    return found


async def _find_channel(api: SlackApi, call: Call, name: str) -> tuple[str, bool]:
    """Return the id of a channel by its name, and whether it is a private one, of which Gofer is a member.

    Raises SlackRefusal, with the error for hidden channels if Gofer sees no channel of that name.
    """
    for kind in ("public_channel", "private_channel"):
        asked = {"limit": PAGE, "cursor": "", "exclude_archived": "true", "types": kind}
        async for page in api.pages(call, "conversations.list", CHANNEL_PAGES, **asked):
            for channel in map(as_object, as_list(page.get("channels"))):
                if as_text(channel.get("name")) == name:
                    return as_text(channel.get("id")), kind == "private_channel"
    raise HIDDEN


def channel_name(call: Origin, channel: str) -> str:
    """Return the id or name of the given channel, or else of the request's channel. Raises ToolError."""
    if channel:
        return channel.removeprefix("#")
    if here := call.place.get("channel"):
        return here
    raise ToolError("Say which channel, as #name: the request did not come from Slack.")


def is_at(channel: str, place: Mapping[str, str]) -> bool:
    """Return whether an id is the channel of an event. A name never matches, because it would need a look-up."""
    return bool(channel) and channel.removeprefix("#") == place.get("channel")


def is_private(info: Mapping[str, object]) -> bool:
    """Return whether a channel is private. It is, unless Slack clearly reports it as public."""
    flags = ("is_private", "is_im", "is_mpim", "is_ext_shared")
    return info.get("is_channel") is not True or any(info.get(flag) is True for flag in flags)


def shown_name(info: Mapping[str, object]) -> str:
    """Return the name of a channel, or one of DIRECT. Slack's own name of a group direct message lists handles."""
    alone, group = DIRECT
    if info.get("is_mpim") is True:
        return group
    return one_line(as_text(info.get("name"))) or alone


def readers_of(name: str, *, private: bool) -> Mapping[str, str]:
    """Return who could read a channel with this shown name, as a detail of a result."""
    return readers(f"the people in {name}" if name in DIRECT else "the members of the channel", private=private)


def with_outsiders(result: ToolResult, info: Mapping[str, object]) -> ToolResult:
    """Return the result of a read, with a detail if people of another company read the channel too."""
    if info.get("is_ext_shared") is not True:
        return result
    return replace(result, details={**(result.details or {}), "outsiders": True})


def check_readable(call: Call, channel: str, info: Mapping[str, object]) -> None:
    """Raise the error of a missing channel for a private channel that the run may not read."""
    if is_private(info) and channel != call.place.get("channel") and not call.cleared:
        raise SlackRefusal("conversations.info", ABSENT)


PLACES = Places(_look_up, _found, _entry, tools=("slack_find_place",), home=_home, is_own=is_direct, hidden=HIDDEN)
