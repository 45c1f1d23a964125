"""The blocks of a page that are files, and the fetching of one.

The address of a file is good for an hour, so Gofer does not keep it: each fetching reads the block again.
"""

from collections.abc import Mapping
from functools import partial
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import UNSPECIFIC_TYPES, guessed, kind_of, plain
from gofer.sources.downloads import Way, fetch, filled, is_public, same_place
from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.ids import READS, object_id
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

FILES = 50
"""Files of one page that can be looked into."""
KINDS: Mapping[str, str] = {"image": "image/png", "pdf": "application/pdf", "file": "", "audio": "", "video": ""}
"""Blocks that are files, with the type of those whose name does not say it."""


class GetFile(Arguments):
    """Which block of which page."""

    page: str = Field(description="Id of the page.")
    block: str = Field(description="Id of the block that is the file.")


def new_file(page: str, block: str, kind: str, content: Fields) -> NewFile | None:
    """Return the file that a block is; None for one that Notion does not have itself."""
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
    """Fetch a file of a page that the run was told of."""
    block = await _block(api, call, object_id(arguments.block, "block"))
    kind = as_text(block.get("type"))
    content = as_object(block.get(kind))
    told = new_file(arguments.page, arguments.block, kind, content)
    if told is None or block.get("in_trash") is True:
        raise ToolError("There is no file in that block of the page any more.", code="gone")
    url = as_text(as_object(content["file"]).get("url"))
    fetched = await fetch(call, Way("Notion", api.base_url, partial(_headers, api)), url, told)
    response = fetched.response
    if not 200 <= response.status < 300:
        raise ToolError(f"Notion did not give that file (HTTP {response.status}).", code=str(response.status))
    made = NewFile(told.name, _type(told, response), response.body, told.origin, source=told.source)
    return ToolResult("The file was fetched.", "fetched a file", files=(filled(made, fetched),))


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


def _type(told: NewFile, response: HttpResponse) -> str:
    sent = plain(response.headers.get("content-type", ""))
    found = kind_of(response.body, told.name).media_type
    # Its bytes say most, but not of which kind a plain text is.
    if found not in UNSPECIFIC_TYPES and not found.startswith("text/"):
        return found
    return guessed(told.name) or (told.media_type if sent in UNSPECIFIC_TYPES else sent)


def _headers(api: NotionApi, address: SplitResult) -> Mapping[str, str] | None:
    """Return no token: the address itself says that it may be read."""
    if is_public(address) or same_place(address, api.base_url):
        return {}
    return None
