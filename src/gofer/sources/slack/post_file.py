"""The tool that attaches a text as a file to a thread, exactly once."""

import hashlib
import re

from pydantic import Field

from gofer.sources.downloads import configured
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.names import mock_channel_id
from gofer.sources.slack.places import channel_id, channel_name, in_channel, thread_place
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import candidates, in_thread
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import code
from gofer.values.canonical_json import as_list, as_object, as_text, clean
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest

_PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
_UNSAFE = re.compile(r"[^\w.-]+")


class PostFile(Arguments):
    """The file, and its destination."""

    name: str = Field(min_length=1, max_length=80, description="Name of the file with its ending, such as report.md.")
    text: str = Field(min_length=1, description="All of the file.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")
    thread_ts: str = Field(default="", description="ts of the thread to attach it in. Left out: the channel itself.")


def _destination(arguments: PostFile) -> str:
    return arguments.thread_ts


@tool(
    effect="lookup",
    shows="file",
    # The message with the file appears some time after Slack's answer.
    settle=15.0,
    place=thread_place,
    destination=_destination,
    writes=in_channel("name", "text", "thread_ts"),
    plain_text=frozenset({"name", "text"}),
    scopes=scopes(
        "conversations.list",
        "files.getUploadURLExternal",
        "files.completeUploadExternal",
        "conversations.replies",
        "conversations.history",
    ),
    everyday="upload, share or send a file, report, export, csv, document",
)
async def slack_post_file(api: SlackApi, call: Call, arguments: PostFile) -> ToolResult:
    """Upload a text file to a Slack thread. Not for the answer to the request, however long it is, and not for what
    fits a message.
    """
    channel = await channel_id(api, call, arguments.channel)
    content = clean(arguments.text).encode()
    name = file_name(arguments.name, call.key)
    # This is not a reading method, but Slack accepts only forms for it.
    place = await api.read(call, "files.getUploadURLExternal", filename=name, length=len(content))
    file = as_text(place.get("file_id"))
    # The upload URL is itself a secret, so the request does not need the token.
    url = as_text(place.get("upload_url"))
    public_only = not configured(url, api.base_url)
    sent = await call.http.send(HttpRequest("POST", url, _PLAIN, content, public_only=public_only))
    if sent.status != 200:
        raise ToolError(f"Slack did not accept the file (HTTP {sent.status}).")
    shared = {"files": [{"id": file, "title": arguments.name}], "channel_id": channel}
    await api.write(call, "files.completeUploadExternal", **shared, **in_thread(arguments.thread_ts))
    return _attached(name, channel, file)


@slack_post_file.look
async def _find(api: SlackApi, call: Call, arguments: PostFile) -> ToolResult | None:
    """Return the file that an earlier attempt of the same call attached, found by its name.

    Returns None when it certainly attached none. Raises TemporaryError and SlackRefusal when that is unclear.
    """
    channel = await channel_id(api, call, arguments.channel)
    name = file_name(arguments.name, call.key)
    async for message in candidates(api, call, channel, arguments.thread_ts):
        for file in map(as_object, as_list(message.get("files"))):
            if as_text(file.get("name")) == name:
                return _attached(name, channel, as_text(file.get("id")))
    return None


@slack_post_file.mock
def _mock(call: Call, arguments: PostFile) -> ToolResult:
    """Return a file without attaching it."""
    channel = mock_channel_id(channel_name(call, arguments.channel))
    name = file_name(arguments.name, arguments.text)
    return _attached(name, channel, f"F{code(arguments)}")


def file_name(name: str, key: str) -> str:
    """Return the given name of a file with a mark that is unique to the call."""
    stem, dot, ending = _UNSAFE.sub("-", name).strip("-.").rpartition(".")
    mark = hashlib.sha256(key.encode()).hexdigest()[:8]
    if dot:
        return f"{stem}-{mark}.{ending}"
    return f"{ending or 'file'}-{mark}.txt"


def _attached(name: str, channel: str, file: str) -> ToolResult:
    """Return an attached file. Details: channel and file id."""
    return ToolResult(f"Attached as {name}.", "attached a file", {"channel": channel, "file": file})
