"""The files attached to an issue: their lines in the issue's text, and the tool that fetches one."""

from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import SplitResult, quote

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import stated_type
from gofer.sources.downloads import VendorHosts, fetch, is_public, parts, same_place, with_content
from gofer.sources.jira.api import Fields, JiraApi, JiraRefusal
from gofer.sources.jira.issues import SEES
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

FILES = 50
"""The most files of one issue that are shown; the newest ones."""


class GetAttachment(Arguments):
    """The attachment to fetch."""

    attachment: str = Field(description="Jira's id of the attachment.", pattern=r"^[0-9]{1,20}$")


def attached(fields: Fields) -> Sequence[NewFile]:
    """Return the files of an issue, the newest first."""
    found = [as_object(one) for one in as_list(fields.get("attachment"))]
    found.sort(key=lambda one: (as_text(one.get("created")), as_text(one.get("id"))), reverse=True)
    return [new_file(one) for one in found[:FILES] if as_text(one.get("id"))]


def attachment_ids(fields: Fields) -> dict[str, str]:
    """Return the ids of an issue's files by name."""
    found = map(as_object, as_list(fields.get("attachment")))
    return {as_text(one.get("filename")): as_text(one.get("id")) for one in found}


def new_file(one: Fields, content: bytes | None = None) -> NewFile:
    """Return a file from Jira's description of it."""
    name = display(as_text(one.get("filename")))
    size = one.get("size")
    return NewFile(
        name,
        stated_type(as_text(one.get("mimeType")), name),
        content,
        "Jira",
        size if isinstance(size, int) and size > 0 else 0,
        {"tool": jira_get_attachment.name, "arguments": {"attachment": as_text(one.get("id"))}},
    )


def lines(files: Sequence[NewFile], all_told: int) -> list[str]:
    """Return the lines about an issue's files for a model. `all_told` is the number of files including hidden ones."""
    rows = [
        f"    [file {file.id}: {file.name}, {file.media_type or 'unknown type'}, {file.size} bytes]" for file in files
    ]
    more = [f"({all_told - len(files)} older ones are left out here.)"] if all_told > len(files) else []
    if rows:
        return ["", "Attachments, newest first:", *rows, *more]
    return []


@tool(effect="read", internal=True, scopes=SEES)
async def jira_get_attachment(api: JiraApi, call: Call, arguments: GetAttachment) -> ToolResult:
    """Fetch an attachment that the source context of the run lists."""
    gone = ToolError("That attachment was deleted, or Gofer's account in Jira may not see it.", code="gone")
    try:
        about = await api.read(call, f"/attachment/{arguments.attachment}")
    except JiraRefusal as refused:
        if refused.status == 404:
            raise gone from refused
        raise
    described = new_file({**about, "id": arguments.attachment})
    url = f"{api.base_url}/rest/api/3/attachment/content/{quote(arguments.attachment, safe='')}"
    fetched = await fetch(call, VendorHosts("Jira", api.base_url, partial(_headers, api)), url, described)
    response = fetched.response
    if response.status in (404, 410):
        raise gone
    if not 200 <= response.status < 300:
        raise ToolError(f"Jira did not send that attachment (HTTP {response.status}).", code=str(response.status))
    made = with_content(described, fetched)
    return ToolResult("The attachment was fetched.", "fetched an attachment", files=(made,))


@jira_get_attachment.mock
def _mock() -> ToolResult:
    """Return a file of one line."""
    return mock_file("Jira")


def _headers(api: JiraApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return the headers with credentials for Jira's API, no headers for other permitted hosts, None for the rest.

    Jira redirects to another host, whose address contains its own credentials.
    """
    base = parts(api.base_url)
    if base and same_place(address, api.base_url) and address.path.startswith(f"{base.path}/rest/api/3/"):
        return api.authorization
    if is_public(address) or same_place(address, api.base_url):
        return {}
    return None
