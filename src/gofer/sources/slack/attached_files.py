"""The files attached to messages: their lines in a thread's text, and the tool that fetches one from Slack."""

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from urllib.parse import SplitResult

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import stated_type
from gofer.sources.downloads import VendorHosts, fetch, parts, same_place, with_content
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.block_text import at
from gofer.sources.slack.message_text import files_of
from gofer.sources.slack.rich_text import DEPTH, Fields, Reader, nothing
from gofer.sources.slack.scopes import scopes
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

_log = logging.getLogger(__name__)

FILES = 50
"""The most files per reading that a run can open; the newest ones."""
TOLD = 2_000
"""The most characters of one thing that Slack tells of a file's content."""
_OWN = ("slack.com", "slack-files.com")
"""The domains from which Slack serves its customers' files."""
_LOGIN = (
    "Slack sent a login page instead of the file: Gofer's Slack app lacks the permission files:read; the operator of"
    " Gofer must add it."
)

_ABSENT = {
    "tombstone": "it was deleted",
    "hidden_by_limit": "Slack hides it, because the workspace has more files than its plan shows",
    "external": "it is stored outside of Slack, and Gofer does not fetch it from there",
}
_CONVERTED = frozenset({"quip", "space", "list"})
"""The modes of canvases, posts and lists. Slack sends them as pages of HTML, or not at all."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ACCESS = {"access_denied": "Gofer may not see it", "file_not_found": "it was deleted"}


def absent(file: Fields) -> str:
    """Return the reason why a file cannot be fetched; empty when it can."""
    if reason := _ACCESS.get(as_text(file.get("file_access"))) or _ABSENT.get(as_text(file.get("mode"))):
        return reason
    if file.get("is_external") is True:
        return _ABSENT["external"]
    if as_text(file.get("id")):
        return ""
    return "Slack does not describe it"


def new_file(file: Fields, content: bytes | None = None) -> NewFile:
    """Return a file from Slack's description of it."""
    size = file.get("size")
    name = display(as_text(file.get("name")) or as_text(file.get("title")))
    return NewFile(
        name,
        stated_type(as_text(file.get("mimetype")), name),
        content,
        "Slack",
        size if isinstance(size, int) and size > 0 else 0,
        {"tool": FETCH, "arguments": {"file": as_text(file.get("id"))}},
    )


def attached(messages: Iterable[Fields], focus: str = "") -> Sequence[NewFile]:
    """Return the files of messages (oldest first): the files of the message with ts `focus`, then the newest ones."""
    newest_first = list(messages)[::-1]
    in_order = sorted(newest_first, key=lambda message: message.get("ts") != focus)
    files = (file for message in in_order for file in files_of(message) if not absent(file))
    found = {new.id: new for new in map(new_file, files)}
    return list(found.values())[:FILES]


def lines_of(files: Iterable[object], known: Collection[str]) -> Sequence[str]:
    """Return the lines about files for a thread's text: what each one is, and what Slack tells of its content."""
    described = [as_object(file) for file in files]
    lines = [text for file in described[:FILES] for text in (line(file, known), *_told(file))]
    if len(described) > FILES:
        lines.append(f"[{len(described) - FILES} more files are left out.]")
    return lines


def _told(file: Fields) -> Iterator[str]:
    """Yield what Slack tells of a file's content, after `| `."""
    for name, member in FILE.members.items():
        if member.reader is None or not file.get(name):
            continue
        text = " ".join(" ".join(member.reader(file, DEPTH)).split())
        if len(text) > TOLD:
            text = f"{text[:TOLD]}…"
        if text:
            yield f"| {text}"


def line(file: Fields, known: Collection[str]) -> str:
    """Return the line about a file for a thread's text. It has the file's id if the run can open the file.

    The name is JSON-encoded, because a model must read it as data.
    """
    new = new_file(file)
    about = [encode_text(new.name)]
    if new.media_type:
        about.append(new.media_type)
    if new.size:
        about.append(f"{new.size} bytes")
    if reason := absent(file):
        return f"[file: {', '.join(about)}; {reason}]"
    if new.id in known:
        return f"[file {new.id}: {', '.join(about)}]"
    return f"[file: {', '.join(about)}]"


def _transcript(file: Fields, depth: int) -> Iterator[str]:
    """Yield Slack's own transcript of a clip, or why there is none."""
    made = as_object(file.get("transcription"))
    status = as_text(made.get("status"))
    preview = as_object(made.get("preview"))
    words = as_text(preview.get("content"))
    if words:
        yield f"transcript: {words}"
    else:
        yield f"transcript: none from Slack ({status or 'no status'})"
    if preview.get("has_more") is True:
        yield "(Slack has more of the transcript.)"


def _title(file: Fields, depth: int) -> Iterator[str]:
    title = as_text(file.get("title"))
    if title not in as_text(file.get("name")):
        yield f"title: {title}"


def _length(file: Fields, depth: int) -> Iterator[str]:
    length = file.get("duration_ms")
    if isinstance(length, int):
        yield f"length: {length / 1000:.0f} seconds"


def _beginning(file: Fields, depth: int) -> Iterator[str]:
    """Yield the beginning of a content, unless Gofer fetches it as a text, or the text of an e-mail is shown."""
    fetched = as_text(file.get("mode")) not in _CONVERTED and as_text(file.get("mimetype")).startswith("text/")
    if absent(file) or not (fetched or file.get("plain_text")):
        shown = as_text(file.get("preview_plain_text")) or _TAG.sub(" ", as_text(file.get("preview")))
        yield f"beginning: {unescape(shown)}"


def _preview(file: Fields, depth: int) -> Iterator[str]:
    if not file.get("preview_plain_text"):
        yield from _beginning(file, depth)


def _told_as(name: str, path: str) -> Reader:
    """Return what reads one field with its name."""

    def read_field(file: Fields, depth: int) -> Iterator[str]:
        found = at(file, path)
        yield f"{name}: {', '.join(map(as_text, as_list(found) or [found]))}"

    return read_field


FILE: Vocabulary[Reader] = Vocabulary(
    "field of a file",
    "field",
    {
        "name": Member("in its line, with `mimetype`, `size`, and why Gofer cannot fetch it", nothing),
        "title": Member("if it says more than the name", _title),
        "alt_txt": Member("the description of a picture", _told_as("description", "alt_txt")),
        "duration_ms": Member("the length of a clip", _length),
        "transcription": Member("Slack's transcript of a clip", _transcript),
        "subject": Member("of an e-mail", _told_as("subject", "subject")),
        "from": Member("of an e-mail", _told_as("from", "from.original")),
        "to": Member("of an e-mail", _told_as("to", "to.original")),
        "cc": Member("of an e-mail", _told_as("cc", "cc.original")),
        "plain_text": Member("the text of an e-mail", _told_as("text", "plain_text")),
        "attachments": Member("the files of an e-mail", _told_as("attached", "attachments.filename")),
        "preview_plain_text": Member("as `preview`, and in its place", _beginning),
        "preview": Member("the beginning of a content that is not a text, or that Gofer cannot fetch", _preview),
        "initial_comment": Member("the comment with an old upload", _told_as("comment", "initial_comment.comment")),
        "external_url": Member("the address of a file outside of Slack", _told_as("address", "external_url")),
    },
)


class GetFile(Arguments):
    """The file to fetch."""

    file: str = Field(description="Slack's id of the file.")


@tool(effect="read", internal=True, scopes=scopes("files.info"))
async def slack_get_file(api: SlackApi, call: Call, arguments: GetFile) -> ToolResult:
    """Fetch a file from Slack that a message of the run's source context lists."""
    # The description in a message may be incomplete or outdated, so ask Slack for the current one.
    info = as_object((await api.read(call, "files.info", file=arguments.file)).get("file"))
    if reason := absent(info):
        raise ToolError(f"That file cannot be read: {reason}.", code="gone")
    url = as_text(info.get("url_private_download")) or as_text(info.get("url_private"))
    fetched = await fetch(call, VendorHosts("Slack", api.base_url, partial(_headers, api)), url, new_file(info))
    _check(fetched.response, info)
    made = with_content(new_file(info, fetched.response.body), fetched)
    return ToolResult("The file was fetched.", "fetched a file", files=(made,))


FETCH = slack_get_file.name
"""The name of the tool that fetches a file."""


@slack_get_file.mock
def _mock() -> ToolResult:
    """Return a file of one line."""
    return mock_file("Slack")


def _headers(api: SlackApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return the headers with the bot token for Slack's own hosts; None for any other host.

    With another base URL than slack.com, only the host of that URL counts as Slack's.
    """
    allowed = same_place(address, api.base_url) or (_is_slack(parts(api.base_url)) and _is_slack(address))
    if allowed:
        return {"Authorization": f"Bearer {api.token.reveal()}"}
    return None


def _is_slack(address: SplitResult | None) -> bool:
    if address is None or address.scheme != "https" or address.port not in (None, 443):
        return False
    host = address.hostname or ""
    return any(host == own or host.endswith(f".{own}") for own in _OWN)


def _check(response: HttpResponse, info: Fields) -> None:
    """Raise ToolError unless an answer holds the file."""
    sent = response.headers.get("content-type", "").lower()
    said = as_text(info.get("mimetype")).lower()
    # For canvases and posts, Slack itself sends HTML.
    page = sent.startswith("text/html") and not said.startswith(("text/html", "application/vnd.slack"))
    if page or response.status in (401, 403):
        # The line names neither the run nor the channel, because some runs must leave no trace.
        _log.error("Slack refuses to send files: %s", _LOGIN)
        raise ToolError(_LOGIN, code="missing_scope")
    if response.status in (404, 410):
        raise ToolError("That file cannot be read: it was deleted.", code="gone")
    if not 200 <= response.status < 300:
        raise ToolError(f"Slack did not send that file (HTTP {response.status}).", code=str(response.status))
