"""What does each tool of Slack give where no Slack is there? Its own form, made of the arguments alone."""

from collections.abc import Mapping, Sequence

from gofer.sources.slack import post_file, private_message, write
from gofer.sources.slack.channels import (
    GetPermalink,
    JoinChannel,
    ReadChannel,
    channel_result,
    joined,
    link_result,
    which,
)
from gofer.sources.slack.directory import GetGroup, GetUser, group_result, people_result
from gofer.sources.slack.get_file import GetFile
from gofer.sources.slack.names import Names, one_line
from gofer.sources.slack.places import FindPlace, place_result
from gofer.sources.slack.read_thread import ID, Message, ReadThread, channel_name, meant, thread_result
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import NAME, SECONDS, code, digits, fetched

_USER = "U0MOCKED0"
_NAMES = Names({_USER: NAME})


def get_file(call: Call, arguments: GetFile) -> ToolResult:
    """A file of one line."""
    return fetched("Slack")


def read_thread(call: Call, arguments: ReadThread) -> ToolResult:
    """A thread of one message, the one that was asked for."""
    channel, ts = meant(call, arguments)
    return thread_result(_shown(channel), _messages(ts), _NAMES, ts, private=False)


def read_channel(call: Call, arguments: ReadChannel) -> ToolResult:
    """A channel in which one message stands."""
    channel = channel_name(call, arguments.channel)
    return channel_result(_shown(channel), _messages(f"{SECONDS}.000100"), _NAMES, private=False)


def get_permalink(call: Call, arguments: GetPermalink) -> ToolResult:
    """A link that leads nowhere."""
    ts, channel = which(call, arguments), _id(channel_name(call, arguments.channel))
    return link_result(f"https://example.slack.com/archives/{channel}/p{ts.replace('.', '')}")


def find_place(call: Call, arguments: FindPlace) -> ToolResult:
    """A public channel that every person is in."""
    listed = {arguments.channel, f"#{arguments.channel}"} & {*arguments.listed}
    return place_result(
        _id(arguments.channel),
        _shown(arguments.channel),
        public=True,
        member=bool(arguments.asker),
        own=False,
        listed=bool(listed),
    )


def get_user(call: Call, arguments: GetUser) -> ToolResult:
    """A member of the workspace who is called what was asked."""
    name = one_line(arguments.name).lstrip("@")
    found: Mapping[str, object] = {
        "id": f"U{code(arguments)}",
        "name": name.casefold().replace(" ", "."),
        "real_name": name,
        "profile": {"display_name": name},
        "team_id": call.place.get("team", ""),
        "tz": "Etc/UTC",
    }
    return people_result([found], f"“{name}”")


def get_group(call: Call, arguments: GetGroup) -> ToolResult:
    """A group of one."""
    return group_result(one_line(arguments.handle).removeprefix("@").casefold(), [_USER], [NAME])


def post_message(call: Call, arguments: write.PostMessage) -> ToolResult:
    """A message that was posted nowhere."""
    channel = _id(channel_name(call, arguments.channel))
    write.content(call, arguments.text)
    return write.posted(channel, _ts(arguments))


def update_message(call: Call, arguments: write.UpdateMessage) -> ToolResult:
    """A message that was changed nowhere."""
    channel = _id(channel_name(call, arguments.channel))
    write.content(call, arguments.text)
    return write.changed(channel, arguments.ts)


def delete_message(call: Call, arguments: write.DeleteMessage) -> ToolResult:
    """A message that was deleted nowhere."""
    channel_name(call, arguments.channel)
    return write.DELETED


def add_reaction(call: Call, arguments: write.AddReaction) -> ToolResult:
    """A reaction that nobody sees."""
    channel_name(call, arguments.channel)
    return write.reacted(write.emoji_name(arguments.emoji))


def post_ephemeral(call: Call, arguments: private_message.PostEphemeral) -> ToolResult:
    """A message that was shown to nobody."""
    private_message.home(call)
    write.content(call, arguments.text)
    return private_message.SHOWN


def post_direct(call: Call, arguments: private_message.PostDirect) -> ToolResult:
    """A direct message that nobody got."""
    write.content(call, arguments.text)
    return private_message.written_directly(f"D{code(call.actor.id)}", _ts(arguments))


def attach(call: Call, arguments: post_file.PostFile) -> ToolResult:
    """A file that was attached nowhere."""
    channel, name = _id(channel_name(call, arguments.channel)), post_file.file_name(arguments.name, arguments.text)
    return post_file.attached(name, channel, f"F{code(arguments)}")


def join_channel(call: Call, arguments: JoinChannel) -> ToolResult:
    """A channel that Gofer is in, as far as anybody knows."""
    channel = channel_name(call, arguments.channel)
    return joined(_id(channel), _shown(channel))


def _messages(ts: str) -> Sequence[Message]:
    return [{"ts": ts, "thread_ts": ts, "user": _USER, "text": "Could somebody look at this?"}]


def _shown(channel: str) -> str:
    return "somewhere" if ID.fullmatch(channel) else channel


def _id(channel: str) -> str:
    return channel if ID.fullmatch(channel) else f"C{code(channel)}"


def _ts(said: Arguments) -> str:
    return f"{SECONDS}.{digits(said, 6)}"
