"""The files in blocks, properties and comments of a page, and the tool that fetches one.

The address of a file is valid for an hour, so Gofer does not store it. Each call reads its place again.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import Field

from gofer.files.file_names import display
from gofer.files.kind import UNSPECIFIC_TYPES, guessed, kind_of, plain
from gofer.sources.downloads import VendorHosts, fetch, is_public, same_place, with_content
from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.ids import READS, object_id
from gofer.sources.notion.inline import link
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.mock_ids import fetched as mock_file
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.outside import HttpResponse

FILES = 50
"""The most files of one page that a run can open."""
KINDS: Mapping[str, str] = {"image": "image/png", "pdf": "application/pdf", "file": "", "audio": "", "video": ""}
"""Types of blocks and attachments that are files, with the media type for files without a known ending."""


class GetFile(Arguments):
    """The file of a page to fetch: a block, or a file in a property or at a comment."""

    page: str = Field(description="Id of the page.")
    block: str = Field(default="", description="Id of the block that is the file.")
    property: str = Field(default="", description="Id of the property with the file.")
    comment: str = Field(default="", description="Id of the comment with the file.")
    name: str = Field(default="", description="Name of the file in the property or at the comment.")
    number: int = Field(default=0, description="Its number among the files there with this name, from 0.")


def _url(entry: Fields) -> str:
    return as_text(as_object(entry.get("file")).get("url"))


def _name(entry: Fields) -> str:
    return display(as_text(entry.get("name")) or _last(_url(entry)))


def _last(url: str) -> str:
    try:
        return unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""


@dataclass(slots=True)
class Files:
    """The files that a reading lists, up to the number that a run can open."""

    listed: list[NewFile] = field(default_factory=list[NewFile])
    left_out: int = 0
    """The number of files beyond the limit."""

    def block(self, page: str, id_: str, kind: str, content: Fields) -> str:
        """Return a file that is a block as text, and list it if Notion stores it."""
        return self._text(page, {"block": id_}, content, kind)

    def entries(self, page: str, place: str, id_: str, entries: object) -> list[str]:
        """Return the files of a `property` or `comment` as texts, and list those that Notion stores."""
        texts: list[str] = []
        names: Counter[str] = Counter()
        for entry in map(as_object, as_list(entries)):
            name = _name(entry)
            where: dict[str, object] = {place: id_, "name": name}
            if names[name]:
                where["number"] = names[name]
            names[name] += 1
            texts.append(self._text(page, where, entry, as_text(entry.get("category"))))
        return texts

    def _text(self, page: str, place: Mapping[str, object], entry: Fields, kind: str) -> str:
        file = new_file(page, place, entry, kind)
        if file and len(self.listed) >= FILES:
            self.left_out += 1
        elif file:
            self.listed.append(file)
            return f"[file {file.id}: {file.name}, {file.media_type or kind or 'file'}]"
        stored = next((known for known in STORED.members if entry.get(known)), as_text(entry.get("type")))
        reader = STORED.reader(stored)
        if reader:
            return reader(entry)
        return STORED.named(stored)


def _external(entry: Fields) -> str:
    return link(as_text(entry.get("name")), as_text(as_object(entry.get("external")).get("url")))


STORED: Vocabulary[Callable[[Fields], str]] = Vocabulary(
    "place of a file",
    "place of a file",
    {
        "file": Member("a file of the run, which Gofer can open; the name alone beyond 50 files of a page", _name),
        "external": Member("its name and address", _external),
        "file_upload": Member("a file that is not uploaded yet"),
    },
)


def new_file(page: str, place: Mapping[str, object], entry: Fields, kind: str) -> NewFile | None:
    """Return the file at a place of a page; None for a file that Notion does not store itself."""
    if not _url(entry):
        return None
    name = _name(entry)
    source = {"tool": notion_get_file.name, "arguments": {"page": page, **place}}
    return NewFile(name, guessed(name) or KINDS.get(kind, ""), None, "Notion", source=source)


@tool(effect="read", internal=True, scopes=READS)
async def notion_get_file(api: NotionApi, call: Call, arguments: GetFile) -> ToolResult:
    """Fetch a file of a page that the source context of the run lists."""
    entry, kind = await _entry(api, call, arguments)
    place = arguments.model_dump(exclude={"page"}, exclude_defaults=True)
    described = new_file(arguments.page, place, entry, kind)
    if described is None:
        raise _gone()
    url = _url(entry)
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


async def _entry(api: NotionApi, call: Call, arguments: GetFile) -> tuple[Fields, str]:
    """Return the file as Notion describes it now, and the kind of its block. Raises ToolError."""
    try:
        if arguments.property:
            page = await api.get(call, f"pages/{arguments.page}")
            values = map(as_object, as_object(page.get("properties")).values())
            found = [
                file for one in values if one.get("id") == arguments.property for file in as_list(one.get("files"))
            ]
            return _same(arguments, found), ""
        if arguments.comment:
            comment = await api.get(call, f"comments/{object_id(arguments.comment, 'comment')}")
            entry = _same(arguments, comment.get("attachments"))
            return entry, as_text(entry.get("category"))
        block = await api.get(call, f"blocks/{object_id(arguments.block, 'block')}")
    except NotionRefusal as refused:
        if refused.code != "object_not_found":
            raise
        raise ToolError(
            "That file was deleted, or its page is not shared with Gofer any more.", code="gone"
        ) from refused
    kind = as_text(block.get("type"))
    if kind not in KINDS or block.get("in_trash") is True:
        raise _gone()
    return as_object(block.get(kind)), kind


def _gone() -> ToolError:
    return ToolError("The page no longer holds a file there.", code="gone")


def _same(arguments: GetFile, entries: object) -> Fields:
    """Return the file of a list that the arguments name. Raises ToolError."""
    same = [entry for entry in map(as_object, as_list(entries)) if _name(entry) == arguments.name]
    if not 0 <= arguments.number < len(same):
        raise _gone()
    return same[arguments.number]


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
