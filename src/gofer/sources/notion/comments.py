"""The open comments on a page and its blocks, and the tool that adds a comment exactly once."""

from collections.abc import AsyncIterator, Iterator, Sequence

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi
from gofer.sources.notion.ids import READS, find_id, object_id, on_page, one_line, page_id, page_place
from gofer.sources.notion.markdown import comment_spans
from gofer.sources.notion.rich_text import Span, footer, inline, marked, rich_text
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import uuid
from gofer.values.canonical_json import as_object, as_text, indented
from gofer.values.errors import ToolError

PAGES = 20
"""The most pages of a hundred comments that one search reads."""


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
    scopes=READS | {"read comments", "insert comments"},
    everyday="leave a note, feedback, reply or remark on a doc, document or wiki",
)
async def notion_add_comment(api: NotionApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comment on a Notion page or on one block of it, or reply to an open discussion."""
    page, on = _where(call, arguments)
    if on != page:
        await _check_block(api, call, page, on)
    target: dict[str, object] = {"parent": {"block_id": on} if on != page else {"page_id": page}}
    if arguments.discussion:
        target = {"discussion_id": await _open_discussion(api, call, on, arguments)}
    texts = rich_text(comment_spans(arguments.text), [Span("\n"), *footer(call)])
    made = await api.post(call, "comments", **target, rich_text=texts)
    return _commented(made, page)


@notion_add_comment.look
async def _find(api: NotionApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """Return the comment that an earlier attempt of the call added, found among the open comments of its place."""
    page, on = _where(call, arguments)
    async for comment in open_comments(api, call, on):
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


def lines(comments: Sequence[Fields]) -> Iterator[str]:
    """Yield the lines of comments for a model, discussion by discussion."""
    discussions: dict[str, list[Fields]] = {}
    for comment in comments:
        discussions.setdefault(as_text(comment.get("discussion_id")), []).append(comment)
    for discussion, replies in discussions.items():
        parent = as_object(replies[0].get("parent"))
        on = f"block {as_text(parent.get('block_id'))}" if parent.get("block_id") else "the page"
        yield f"Open discussion {discussion} on {on}:"
        for comment in replies:
            author = one_line(as_text(as_object(comment.get("display_name")).get("resolved_name"))) or "Somebody"
            yield f"  {author} at {as_text(comment.get('created_time'))[:16].replace('T', ' ')} UTC:"
            # The text is indented so that no comment can imitate the header of another.
            yield from indented(inline(comment.get("rich_text")), "      ")


def _where(call: Call, arguments: AddComment) -> tuple[str, str]:
    """Return the page, and the block or page to comment on. Raises ToolError."""
    page = page_id(call, arguments.page)
    return page, object_id(arguments.block, "block") if arguments.block else page


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


async def _open_discussion(api: NotionApi, call: Call, on: str, arguments: AddComment) -> str:
    """Return the id of an open discussion. Only comments of open discussions can be found again. Raises ToolError."""
    sought = object_id(arguments.discussion, "discussion")
    async for comment in open_comments(api, call, on):
        if comment.get("discussion_id") == sought:
            return sought
    raise ToolError("No such discussion is open there; if it is on a block, name the block in `block`.")


async def comments_of(api: NotionApi, call: Call, places: Sequence[str]) -> list[Fields]:
    """Return the open comments of several pages and blocks, in the given order."""
    return [comment for place in places async for comment in open_comments(api, call, place)]
