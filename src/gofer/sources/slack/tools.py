"""The tools of Slack, and what the model reads about them."""

from functools import partial
from typing import Any

from gofer.sources.slack import mocks
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.approval_tools import approval_tools
from gofer.sources.slack.attached_files import FETCH
from gofer.sources.slack.channels import (
    GetPermalink,
    JoinChannel,
    ReadChannel,
    get_permalink,
    join_channel,
    read_channel,
)
from gofer.sources.slack.directory import GetGroup, GetUser, get_group, get_user
from gofer.sources.slack.get_file import GetFile, get_file
from gofer.sources.slack.places import (
    FindPlace,
    channel_place,
    direct_place,
    find_place,
    home_place,
    message_place,
    thread_place,
)
from gofer.sources.slack.post_file import PostFile, find_file, post_file
from gofer.sources.slack.private_message import PostDirect, PostEphemeral, find_direct, post_direct, post_ephemeral
from gofer.sources.slack.read_thread import ReadThread, is_at, read_thread
from gofer.sources.slack.refusals import EDIT_REFUSED
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import (
    AddReaction,
    DeleteMessage,
    PostMessage,
    UpdateMessage,
    add_reaction,
    delete_message,
    find_message,
    post_message,
    update_message,
)
from gofer.tools.definition import Tool
from gofer.tools.places import Writes


def slack_tools(api: SlackApi) -> tuple[Tool[Any], ...]:
    """Return the tools of one Slack workspace."""
    reading = (*_reading(api), *_links(api), *_people(api), *_places(api))
    writing = (*_messages(api), *_aside(api), *_additions(api))
    return (*reading, *writing, *approval_tools(api))


def _reading(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_read_thread",
            description="Read a Slack thread: who said what and when. Use it for threads that are linked or named.",
            effect="read",
            arguments=ReadThread,
            act=partial(read_thread, api),
            everyday="conversation discussion chat replies; catch up, summarise, recap, what was said, who said what",
            mock=mocks.read_thread,
            where=thread_place,
            scopes=scopes("conversations.list", "conversations.info", "conversations.replies", "users.info"),
        ),
        Tool(
            name="slack_read_channel",
            description="Read the newest messages of a Slack channel, without the replies in threads.",
            effect="read",
            arguments=ReadChannel,
            act=partial(read_channel, api),
            everyday="chat conversation recent posts; catch up, what was said, what happened, what is going on, latest",
            mock=mocks.read_channel,
            where=channel_place,
            scopes=scopes("conversations.list", "conversations.info", "conversations.history", "users.info"),
        ),
        Tool(
            name=FETCH,
            description="Fetch a file of Slack that the run was told of.",
            effect="read",
            arguments=GetFile,
            act=partial(get_file, api),
            mock=mocks.get_file,
            internal=True,
            scopes=scopes("files.info"),
        ),
    )


def _links(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_get_permalink",
            description="Get the link of a Slack message, to put it into a ticket or a page.",
            effect="read",
            arguments=GetPermalink,
            act=partial(get_permalink, api),
            everyday="url link address of a message or post; reference it",
            mock=mocks.get_permalink,
            where=message_place,
            scopes=scopes("conversations.list", "conversations.info", "chat.getPermalink"),
        ),
    )


def _places(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_find_place",
            description="Look up a channel: whether everybody may see it, and whether one person is in it.",
            effect="read",
            arguments=FindPlace,
            act=partial(find_place, api),
            mock=mocks.find_place,
            internal=True,
            scopes=scopes("conversations.list", "conversations.info", "users.conversations"),
        ),
    )


def _people(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_get_user",
            description="Look up one person: real name, title, time zone, whether bot, guest or deactivated. Not needed"
            " for the authors of a thread you were shown.",
            effect="read",
            arguments=GetUser,
            act=partial(get_user, api),
            everyday="who is this person, colleague, employee, teammate, profile, local time",
            mock=mocks.get_user,
            scopes=scopes("users.info", "users.list"),
        ),
        Tool(
            name="slack_get_group",
            description="Look up who is in a user group, such as @dev-leads.",
            effect="read",
            arguments=GetGroup,
            act=partial(get_group, api),
            everyday="team members, who is on this team, people in a group, squad, handle, on-call",
            mock=mocks.get_group,
            scopes=scopes("usergroups.list", "users.info"),
        ),
    )


def _messages(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_post_message",
            description="Post a message to Slack. Not for the answer to the request: that is delivered by itself.",
            effect="lookup",
            arguments=PostMessage,
            act=partial(post_message, api),
            everyday="tell, notify, ping, announce, announcement; write in chat, send to a channel or the team, share "
            "news, let people know",
            mock=mocks.post_message,
            look=partial(find_message, api),
            settle=5.0,
            # A channel may be written as its name, as its id, or left out; a thread has one ts wherever it is.
            destination=lambda arguments: arguments.thread_ts,
            writes=_in_a_channel("text", "thread_ts"),
            where=channel_place,
            scopes=scopes("conversations.list", "chat.postMessage", "conversations.replies", "conversations.history"),
        ),
        Tool(
            name="slack_update_message",
            description="Replace the text of a message that Gofer posted. Not for the answer to the request.",
            effect="keyed",
            arguments=UpdateMessage,
            act=partial(update_message, api),
            everyday="edit, correct or fix a post in chat",
            mock=mocks.update_message,
            gone=EDIT_REFUSED,
            destination=lambda arguments: arguments.ts,
            writes=_in_a_channel("text", "ts"),
            where=channel_place,
            scopes=scopes("conversations.list", "chat.update"),
        ),
        Tool(
            name="slack_delete_message",
            description="Delete a message that Gofer posted.",
            effect="keyed",
            arguments=DeleteMessage,
            act=partial(delete_message, api),
            everyday="remove, take back or unsend a post in chat",
            mock=mocks.delete_message,
            destination=lambda arguments: arguments.ts,
            writes=_in_a_channel("ts"),
            where=channel_place,
            scopes=scopes("conversations.list", "chat.delete"),
        ),
    )


def _aside(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_post_ephemeral",
            description="Show a message to nobody but the person who started this, where they did. Not for the answer"
            " to the request: that is delivered by itself.",
            effect="blind",
            arguments=PostEphemeral,
            act=partial(post_ephemeral, api),
            everyday="whisper, tell only me, private hint, quietly",
            mock=mocks.post_ephemeral,
            # It cannot be shown anywhere else.
            writes=Writes({}, frozenset({"text", "thread_ts"})),
            where=home_place,
            scopes=scopes("chat.postEphemeral"),
        ),
        Tool(
            name="slack_post_direct",
            description="Write a direct message to the person who started this. Not for the answer to the request:"
            " that is delivered by itself.",
            effect="lookup",
            arguments=PostDirect,
            act=partial(post_direct, api),
            everyday="dm, private message, tell me privately, ping me",
            mock=mocks.post_direct,
            look=partial(find_direct, api),
            settle=5.0,
            where=direct_place,
            scopes=scopes("conversations.open", "chat.postMessage") | {"im:history"},
        ),
    )


def _additions(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_post_file",
            description="Attach a text file to a Slack thread. Not for the answer to the request, however long it is,"
            " and not for what fits a message.",
            effect="lookup",
            arguments=PostFile,
            act=partial(post_file, api),
            everyday="upload, share or send a file, report, export, csv, document",
            mock=mocks.attach,
            look=partial(find_file, api),
            # The message with the file appears some time after Slack has answered.
            settle=15.0,
            destination=lambda arguments: arguments.thread_ts,
            writes=_in_a_channel("name", "text", "thread_ts"),
            where=channel_place,
            scopes=scopes(
                "conversations.list",
                "files.getUploadURLExternal",
                "files.completeUploadExternal",
                "conversations.replies",
                "conversations.history",
            ),
        ),
        Tool(
            name="slack_add_reaction",
            description="Add an emoji reaction to a Slack message. Not as an answer: that is delivered by itself.",
            effect="keyed",
            arguments=AddReaction,
            act=partial(add_reaction, api),
            everyday="react, thumbs up, checkmark, like, smiley, acknowledge a post",
            mock=mocks.add_reaction,
            writes=_in_a_channel("emoji", "ts"),
            where=channel_place,
            scopes=scopes("conversations.list", "reactions.add"),
        ),
        Tool(
            name="slack_join_channel",
            description="Join a public Slack channel, so that Gofer can read and write there.",
            effect="keyed",
            arguments=JoinChannel,
            act=partial(join_channel, api),
            everyday="enter, get into, be added to a channel",
            mock=mocks.join_channel,
            writes=_in_a_channel(),
            where=channel_place,
            scopes=scopes("conversations.list", "conversations.join"),
        ),
    )


def _in_a_channel(*content: str) -> Writes:
    # Whoever sees one thread of a channel sees them all.
    return Writes({"channel": is_at}, frozenset(content))
