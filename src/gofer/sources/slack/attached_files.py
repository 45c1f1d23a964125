"""The files under messages: how a model is told of them, and how one is fetched from Slack."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from urllib.parse import SplitResult

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import stated_type
from gofer.sources.downloads import Way, fetch, filled, parts, same_place
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.scopes import scopes
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

_log = logging.getLogger(__name__)

FILES = 50
"""Files of one reading that can be looked into at most; the newest."""
_OWN = ("slack.com", "slack-files.com")
"""Where Slack has files of its customers."""
_LOGIN = (
    "Slack sent a page to log in instead of the file: Gofer's Slack app lacks the permission files:read; whoever runs"
    " Gofer has to add it."
)

Fields = Mapping[str, object]

_ABSENT = {
    "tombstone": "it was deleted",
    "hidden_by_limit": "Slack hides it, because the workspace has more files than its plan shows",
    "external": "it does not stand in Slack but elsewhere, and Gofer does not fetch it from there",
}
_ACCESS = {"access_denied": "Gofer may not see it", "file_not_found": "it was deleted"}


def absent(file: Fields) -> str:
    """Return why there is nothing to fetch; empty where there is."""
    if why := _ACCESS.get(as_text(file.get("file_access"))) or _ABSENT.get(as_text(file.get("mode"))):
        return why
    if file.get("is_external") is True:
        return _ABSENT["external"]
    if as_text(file.get("id")):
        return ""
    return "Slack says nothing of it"


def new_file(file: Fields, content: bytes | None = None) -> NewFile:
    """Return a file as Slack describes it."""
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
    """Return the files of some messages, given oldest first: those of the message with ts `focus`, then the newest."""
    newest_first = list(messages)[::-1]
    in_order = sorted(newest_first, key=lambda message: message.get("ts") != focus)
    files = (file for message in in_order for file in of(message) if not absent(file))
    found = {made.id: made for file in files if (made := new_file(file))}
    return list(found.values())[:FILES]


def of(message: Fields) -> Sequence[Fields]:
    """Return the files under a message, as Slack describes them."""
    return [as_object(file) for file in as_list(message.get("files"))]


def line(file: Fields, known: Collection[str]) -> str:
    """Return a file beside its message, its name as data, under its id when it is one that can be looked into."""
    made = new_file(file)
    about = [encode_text(made.name), *filter(None, [made.media_type]), *([f"{made.size} bytes"] if made.size else [])]
    if why := absent(file):
        return f"[file: {', '.join(about)}; {why}]"
    if made.id in known:
        return f"[file {made.id}: {', '.join(about)}]"
    return f"[file: {', '.join(about)}]"


class GetFile(Arguments):
    """Which file."""

    file: str = Field(description="Slack's id of the file.")


@tool(effect="read", internal=True, scopes=scopes("files.info"))
async def slack_get_file(api: SlackApi, call: Call, arguments: GetFile) -> ToolResult:
    """Fetch a file of Slack that the run was told of."""
    # Slack is asked about it first: messages may say less, or too much.
    info = as_object((await api.read(call, "files.info", file=arguments.file)).get("file"))
    if why := absent(info):
        raise ToolError(f"That file cannot be read: {why}.", code="gone")
    url = as_text(info.get("url_private_download")) or as_text(info.get("url_private"))
    fetched = await fetch(call, Way("Slack", api.base_url, partial(_headers, api)), url, new_file(info))
    _check(fetched.response, info)
    made = filled(new_file(info, fetched.response.body), fetched)
    return ToolResult("The file was fetched.", "fetched a file", files=(made,))


FETCH = slack_get_file.name
"""The tool that fetches one."""


@slack_get_file.mock
def _mock() -> ToolResult:
    """Return a file of one line."""
    return mock_file("Slack")


def _headers(api: SlackApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return the token is for Slack only; a Slack that is not slack.com has its files where it has its methods."""
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
    """Raise ToolError for any answer but the file."""
    sent = response.headers.get("content-type", "").lower()
    said = as_text(info.get("mimetype")).lower()
    # Canvases and posts are HTML of Slack's own.
    page = sent.startswith("text/html") and not said.startswith(("text/html", "application/vnd.slack"))
    if page or response.status in (401, 403):
        # Neither run nor channel: it also comes to runs that must leave no trace.
        _log.error("Slack gives no files: %s", _LOGIN)
        raise ToolError(_LOGIN, code="missing_scope")
    if response.status in (404, 410):
        raise ToolError("That file cannot be read: it was deleted.", code="gone")
    if not 200 <= response.status < 300:
        raise ToolError(f"Slack did not give that file (HTTP {response.status}).", code=str(response.status))
