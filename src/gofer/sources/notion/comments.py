"""The open comments on a page and its blocks, and the tool that adds a comment exactly once."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from gofer.sources.notion.api import PAGE, Fields, NotionApi, NotionRefusal
from gofer.sources.notion.get_file import Files
from gofer.sources.notion.ids import READS, find_id, object_id, on_page, one_line, page_id, page_place
from gofer.sources.notion.inline import inline
from gofer.sources.notion.labels import Labels
from gofer.sources.notion.markdown import comment_spans
from gofer.sources.notion.refusals import NOT_THERE
from gofer.sources.notion.rich_text import Span, footer, marked, rich_text
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import uuid
from gofer.values.canonical_json import as_object, as_text, indented
from gofer.values.errors import ToolError

PAGES = 20
"""The most pages of a hundred comments that one search reads."""
LONGEST = 12_000
"""The most characters of one comment that are shown."""


class AddComment(Arguments):
    """The comment, and the page, block or discussion."""

    text: str = Field(min_length=1, max_length=20_000, description="The comment in Markdown.")
    page: str = Field(default="", description="The page, as a link or an id. Left out: where the request came from.")
    block: str = Field(default="", description="Id of the block of that page to comment on. Left out: the page itself.")
    discussion: str = Field(
        default="", description="Id of the open discussion to reply to; with `block` if it is on a block."
    )


def _destination(arguments: AddComment) -> str:
    """Return the id of the block. The page is no part of it, because a call can write it as a link or leave it out."""
    return find_id(arguments.block) or ""


@tool(
    effect="lookup",
    shows="comment",
    timeout=40.0,
    settle=5.0,
    place=page_place,
    destination=_destination,
    writes=on_page("text", "block", "discussion"),
    markdown=frozenset({"text"}),
    scopes=READS | {"read comments", "insert comments"},
    everyday="leave a note, feedback, reply or remark on a doc, document or wiki",
)
async def notion_add_comment(api: NotionApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comment on a Notion page or on one block of it, or reply to an open discussion."""
    page, on = _where(call, arguments)
    if on != page and not _is_here(arguments):
        await _check_block(api, call, page, on)
    place: dict[str, object] = {"parent": {"block_id": on} if on != page else {"page_id": page}}
    texts = rich_text(comment_spans(arguments.text), [Span("\n"), *footer(call)])
    if arguments.discussion:
        place = {"discussion_id": await _open_discussion(api, call, page, on, arguments)}
    elif discussion := await _own_discussion(api, call, on, arguments):
        try:
            return _commented(await api.post(call, "comments", discussion_id=discussion, rich_text=texts), page)
        except NotionRefusal as refused:
            if refused.is_outage or refused.access:
                raise
            # Someone resolved the discussion meanwhile: the answer stands where the discussion stood.
    return _commented(await api.post(call, "comments", **place, rich_text=texts), page)


@notion_add_comment.look
async def _find(api: NotionApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """Return the comment that an earlier attempt of the call added, found among the open comments of its place."""
    page, on = _where(call, arguments)
    for place in dict.fromkeys((on, page)):
        async for comment in open_comments(api, call, place):
            if marked(call, comment):
                return _commented(comment, page)
    return None


@notion_add_comment.mock
def _mock(call: Call, arguments: AddComment) -> ToolResult:
    """Return a comment without adding it."""
    page, _ = _where(call, arguments)
    discussion = uuid(f"discussion: {arguments.text}")
    if arguments.discussion:
        discussion = object_id(arguments.discussion, "discussion")
    return _commented({"id": uuid(arguments), "discussion_id": discussion}, page)


def _commented(comment: Fields, page: str) -> ToolResult:
    """Return an added comment. Details: comment, discussion, page."""
    comment_id = as_text(comment.get("id"))
    discussion = as_text(comment.get("discussion_id"))
    details = {"comment": comment_id, "discussion": discussion, "page": page}
    return ToolResult(f"Commented (discussion {discussion}).", "commented in Notion", details)


def open_comments(api: NotionApi, call: Call, on: str) -> AsyncIterator[Fields]:
    """Return the open comments on a block, or on a page without its blocks; oldest first."""
    return api.listed(call, "comments", PAGES, block_id=on)


@dataclass(slots=True)
class Discussions:
    """The open comments of a page and of blocks on it."""

    subject: str = ""
    """The id of the comment that started the run; empty if none did."""
    comments: list[Fields] = field(default_factory=list[Fields])
    refused: list[str] = field(default_factory=list[str])
    """The pages and blocks whose comments Notion did not give."""
    whole: bool = True
    """Whether all comments were read."""
    deleted: bool = False
    """Whether the comment that started the run was deleted."""

    @property
    def details(self) -> Mapping[str, object]:
        """Return the text, header, author and time of the comment that started the run; empty if it was not read."""
        found = next((one for one in self.comments if self._started(one)), None)
        if found is None:
            return {}
        return {
            "words": inline(found.get("rich_text")),
            "header": self._header(found),
            "author": _author(found),
            "time": _time(found),
        }

    def lines(self, page: str, files: Files, budget: int) -> list[str]:
        """Return the lines for a model, discussion by discussion: the newest comments that fit, and the run's own."""
        texts = [self._lines(one, page, files) for one in self.comments]
        kept: set[int] = set()
        newest_first = sorted(range(len(texts)), key=self._rank, reverse=True)
        for place in newest_first:
            budget -= sum(len(line) + 1 for line in texts[place])
            if budget >= 0 or not kept:
                kept.add(place)
        discussions: dict[str, list[int]] = {}
        for place in sorted(kept):
            discussions.setdefault(as_text(self.comments[place].get("discussion_id")), []).append(place)
        rows: list[str] = []
        for discussion, places in discussions.items():
            parent = as_object(self.comments[places[0]].get("parent"))
            on = f"block {as_text(parent.get('block_id'))}" if parent.get("block_id") else "the page"
            rows.append(f"Open discussion {discussion} on {on}:")
            rows += [line for place in places for line in texts[place]]
        if len(kept) < len(texts):
            rows.append(f"({len(texts) - len(kept)} older comments are left out here.)")
        return rows

    def _rank(self, place: int) -> tuple[bool, str]:
        comment = self.comments[place]
        return self._started(comment), as_text(comment.get("created_time"))

    def _started(self, comment: Fields) -> bool:
        return bool(self.subject) and comment.get("id") == self.subject

    def _header(self, comment: Fields) -> str:
        started = ""
        if self._started(comment):
            # No name can imitate the id.
            started = f" (comment {self.subject}, which started this run)"
        return f"{_author(comment)} at {_time(comment)}{started}:"

    def _lines(self, comment: Fields, page: str, files: Files) -> list[str]:
        # The text is indented so that no comment can imitate the header of another.
        attached = files.entries(page, "comment", as_text(comment.get("id")), comment.get("attachments"))
        text = _short(inline(comment.get("rich_text")))
        return [f"  {self._header(comment)}", *indented("\n".join(filter(None, (text, *attached))), "      ")]


def _author(comment: Fields) -> str:
    named = as_text(as_object(comment.get("display_name")).get("resolved_name"))
    person = as_object(comment.get("created_by"))
    found = named or as_text(person.get("name"))
    if not found and person.get("id"):
        return f"Person {as_text(person.get('id'))}"
    return one_line(found) or "Somebody"


def _time(comment: Fields) -> str:
    return f"{as_text(comment.get('created_time'))[:16].replace('T', ' ')} UTC"


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n[{len(text) - LONGEST} further characters are left out.]"


async def read_comments(api: NotionApi, call: Call, places: Sequence[str], subject: str, labels: Labels) -> Discussions:
    """Return the open comments of several pages and blocks, in the given order, and the comment `subject`.

    Raises NotionRefusal, TemporaryError.
    """
    read = Discussions(subject)
    for place in places:
        try:
            await _read_place(api, call, place, read)
        except NotionRefusal as refused:
            if refused.is_outage:
                raise
            read.refused.append(place)
            if refused.access:
                # Without the capability, Notion refuses every place.
                read.refused = list(places)
                break
    if subject and subject not in {one.get("id") for one in read.comments}:
        found = await _comment(api, call, subject)
        if isinstance(found, NotionRefusal):
            # Without the capability to read comments, or with a page that does not list them, it may exist.
            read.deleted = found.code in NOT_THERE and not read.refused
        elif found.get("id") == subject:
            read.comments.append(found)
    read.comments = [await _labelled(one, labels) for one in read.comments]
    return read


async def _read_place(api: NotionApi, call: Call, place: str, read: Discussions) -> None:
    pages = max(1, PAGES - len(read.comments) // PAGE)
    try:
        async for comment in api.listed(call, "comments", pages, block_id=place):
            read.comments.append(comment)
    except ToolError as error:
        if error.code != "too_many":
            raise
        read.whole = False


async def _comment(api: NotionApi, call: Call, comment: str) -> Fields | NotionRefusal:
    """Return one comment, or why Notion does not give it. Raises NotionRefusal for an outage, TemporaryError."""
    try:
        return await api.get(call, f"comments/{comment}")
    except NotionRefusal as refused:
        if refused.is_outage:
            raise
        return refused


async def _labelled(comment: Fields, labels: Labels) -> Fields:
    """Return a comment with the names of the people in its text, and of its author if Notion does not name them."""
    part = {"rich_text": comment.get("rich_text")}
    if not as_object(comment.get("display_name")).get("resolved_name"):
        part["created_by"] = comment.get("created_by")
    return {**comment, **await labels.add(part)}


def _is_here(arguments: AddComment) -> bool:
    """Return whether a call leaves out its place, so that it means where the request came from."""
    return not (arguments.page or arguments.block)


def _where(call: Call, arguments: AddComment) -> tuple[str, str]:
    """Return the page, and the block or page to comment on. Raises ToolError."""
    page = page_id(call, arguments.page)
    if arguments.block:
        return page, object_id(arguments.block, "block")
    if arguments.page:
        return page, page
    # A comment that started the run may be on a block.
    return page, call.place.get("block") or page


async def _check_block(api: NotionApi, call: Call, page: str, block: str) -> None:
    """Raise ToolError for a block of another page, because the page determines who can see the comment."""
    above = block
    for _ in range(20):
        parent = as_object((await api.get(call, f"blocks/{above}")).get("parent"))
        if as_text(parent.get("page_id")) == page:
            return
        if not (above := as_text(parent.get("block_id"))):
            break
    raise ToolError("That block is not on that page; say in `page` which page it is on.")


async def _own_discussion(api: NotionApi, call: Call, on: str, arguments: AddComment) -> str:
    """Return the discussion of the comment that started the run, if the call names no other place; else nothing."""
    comment = call.place.get("comment", "")
    known = call.place.get("discussion", "")
    if not _is_here(arguments):
        return ""
    if known or not comment:
        return known
    found = await _comment(api, call, comment)
    if not isinstance(found, NotionRefusal) and found.get("id") == comment:
        return as_text(found.get("discussion_id"))
    listed = Discussions()
    try:
        await _read_place(api, call, on, listed)
    except NotionRefusal as refused:
        if refused.is_outage:
            raise
    return next((as_text(one.get("discussion_id")) for one in listed.comments if one.get("id") == comment), "")


async def _open_discussion(api: NotionApi, call: Call, page: str, on: str, arguments: AddComment) -> str:
    """Return the id of an open discussion. Only comments of open discussions can be found again. Raises ToolError."""
    sought = object_id(arguments.discussion, "discussion")
    places = [on, page] if _is_here(arguments) else [on]
    for place in dict.fromkeys(places):
        async for comment in open_comments(api, call, place):
            if comment.get("discussion_id") == sought:
                return sought
    raise ToolError("No such discussion is open there; if it is on a block, name the block in `block`.")
