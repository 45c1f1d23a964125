"""The files in the blocks of a page, and the tool that fetches one.

The address of a file is valid for an hour, so Gofer does not store it. Each call reads the block again.
"""

from collections.abc import Mapping
from functools import partial
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import UNSPECIFIC_TYPES, guessed, kind_of, plain
from gofer.sources.downloads import VendorHosts, fetch, is_public, same_place, with_content
from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.ids import READS, object_id
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

FILES = 50
"""The most files of one page that a run can open."""
KINDS: Mapping[str, str] = {"image": "image/png", "pdf": "application/pdf", "file": "", "audio": "", "video": ""}
"""Types of blocks that are files, with the media type for files without a known ending."""


class GetFile(Arguments):
    """The block of a page to fetch."""

    page: str = Field(description="Id of the page.")
    block: str = Field(description="Id of the block that is the file.")


def new_file(page: str, block: str, kind: str, content: Fields) -> NewFile | None:
    """Return the file in a block; None for a file that Notion does not store itself."""
    file = as_object(content.get("file"))
    if kind not in KINDS or not as_text(file.get("url")):
        return None
    name = display(as_text(content.get("name")) or _last(as_text(file.get("url"))))
    source = {"tool": notion_get_file.name, "arguments": {"page": page, "block": block}}
    return NewFile(name, guessed(name) or KINDS[kind], None, "Notion", source=source)


def _last(url: str) -> str:
    try:
        return unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""


@tool(effect="read", internal=True, scopes=READS)
async def notion_get_file(api: NotionApi, call: Call, arguments: GetFile) -> ToolResult:
    """Fetch a file of a page that the source context of the run lists."""
    block = await _block(api, call, object_id(arguments.block, "block"))
    kind = as_text(block.get("type"))
    content = as_object(block.get(kind))
    described = new_file(arguments.page, arguments.block, kind, content)
    if described is None or block.get("in_trash") is True:
        raise ToolError("That block of the page no longer holds a file.", code="gone")
    url = as_text(as_object(content["file"]).get("url"))
    fetched = await fetch(call, VendorHosts("Notion", api.base_url, partial(_headers, api)), url, described)
    response = fetched.response
    if not 200 <= response.status < 300:
        raise ToolError(f"Notion did not send that file (HTTP {response.status}).", code=str(response.status))
    made = NewFile(described.name, _type(described, response), response.body, described.origin, source=described.source)
    return ToolResult("The file was fetched.", "fetched a file", files=(with_content(made, fetched),))


@notion_get_file.mock
def _mock() -> ToolResult:
    """Return a file of one line."""
    return mock_file("Notion")


async def _block(api: NotionApi, call: Call, block: str) -> Fields:
    try:
        return await api.get(call, f"blocks/{block}")
    except NotionRefusal as refused:
        if refused.code != "object_not_found":
            raise
        raise ToolError(
            "That file was deleted, or its page is not shared with Gofer any more.", code="gone"
        ) from refused


def _type(described: NewFile, response: HttpResponse) -> str:
    sent = plain(response.headers.get("content-type", ""))
    found = kind_of(response.body, described.name).media_type
    # The bytes identify most types best, but not the kind of a plain text.
    if found not in UNSPECIFIC_TYPES and not found.startswith("text/"):
        return found
    return guessed(described.name) or (described.media_type if sent in UNSPECIFIC_TYPES else sent)


def _headers(api: NotionApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return no headers for permitted hosts, because the address itself contains the permission; None for others."""
    if is_public(address) or same_place(address, api.base_url):
        return {}
    return None
