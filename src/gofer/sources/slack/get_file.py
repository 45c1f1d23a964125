"""The fetching of a file from Slack, told from a page to log in."""

import logging
from collections.abc import Mapping
from functools import partial
from urllib.parse import SplitResult

from pydantic import Field

from gofer.sources.downloads import Way, fetch, filled, parts, same_place
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.attached_files import Fields, absent, new_file
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

_log = logging.getLogger(__name__)

_OWN = ("slack.com", "slack-files.com")
"""Where Slack has files of its customers."""
_LOGIN = (
    "Slack sent a page to log in instead of the file: Gofer's Slack app lacks the permission files:read; whoever runs"
    " Gofer has to add it."
)


class GetFile(Arguments):
    """Which file."""

    file: str = Field(description="Slack's id of the file.")


async def get_file(api: SlackApi, call: Call, arguments: GetFile) -> ToolResult:
    """Return the file as the one of its result. Slack is asked about it first: messages may say less, or too much."""
    info = as_object((await api.read(call, "files.info", file=arguments.file)).get("file"))
    if why := absent(info):
        raise ToolError(f"That file cannot be read: {why}.", code="gone")
    url = as_text(info.get("url_private_download")) or as_text(info.get("url_private"))
    fetched = await fetch(call, Way("Slack", api.base_url, partial(_headers, api)), url, new_file(info))
    _check(fetched.response, info)
    made = filled(new_file(info, fetched.response.body), fetched)
    return ToolResult("The file was fetched.", "fetched a file", files=(made,))


def _headers(api: SlackApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return the token is for Slack only; a Slack that is not slack.com has its files where it has its methods."""
    allowed = same_place(address, api.base_url) or (_is_slack(parts(api.base_url)) and _is_slack(address))
    return {"Authorization": f"Bearer {api.token.reveal()}"} if allowed else None


def _is_slack(address: SplitResult | None) -> bool:
    if address is None or address.scheme != "https" or address.port not in (None, 443):
        return False
    host = address.hostname or ""
    return any(host == own or host.endswith(f".{own}") for own in _OWN)


def _check(response: HttpResponse, info: Fields) -> None:
    """Raise ToolError for any answer but the file."""
    sent, said = response.headers.get("content-type", "").lower(), as_text(info.get("mimetype")).lower()
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
