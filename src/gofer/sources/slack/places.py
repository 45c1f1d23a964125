"""The places of Slack: which one a call names, who may see it, and whether its asker is there."""

from typing import Protocol

from pydantic import Field

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.mock_channel import mock_channel_id, mock_channel_name
from gofer.sources.slack.names import ID, PAGE, find_channel, one_line
from gofer.sources.slack.read_thread import ABSENT, channel_name, is_at, is_private
from gofer.sources.slack.scopes import scopes
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_list, as_object, as_text

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
    found: set[str] = set()
    cursor = ""
    if not person:
        return frozenset()
    for _ in range(PAGES):
        page = await api.read(
            call,
            "users.conversations",
            user=person,
            types="public_channel,private_channel",
            limit=PAGE,
            cursor=cursor,
        )
        found |= {as_text(as_object(channel).get("id")) for channel in as_list(page.get("channels"))}
        cursor = as_text(as_object(page.get("response_metadata")).get("next_cursor"))
        if not cursor:
            return frozenset(found)
    return frozenset()
