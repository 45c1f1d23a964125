"""The calls for blocks and comments."""

import gofer_simulators.notion.rich_text as rich_text
import gofer_simulators.notion.shapes as shapes
from gofer_simulators.json_values import JsonObject, object_of, text_of
from gofer_simulators.notion.api_request import Answer, ApiRequest, id_of, invalid, listed, not_found
from gofer_simulators.notion.blocks import Block, read_blocks
from gofer_simulators.notion.workspace import Comment, Page, Workspace


def get_block(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /blocks/{id}."""
    request.permit()
    page, block = workspace.block(request.id())
    above = next((one for one in page.all_blocks() if block in one.children), None)
    return shapes.block(workspace, block, _parent(page, above))


def get_children(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /blocks/{id}/children."""
    request.permit(query="page_size start_cursor")
    page, above = _page_or_block(workspace, request.id())
    parent = _parent(page, above)
    return listed([shapes.block(workspace, one, parent) for one in _children(page, above)], request, "block")


def append_children(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer PATCH /blocks/{id}/children."""
    request.permit(body="children position")
    page, above = _page_or_block(workspace, request.id())
    siblings = _children(page, above)
    at = len(siblings)
    if "position" in request.body:
        at = _position(siblings, object_of(request.body, "position"))
    blocks = read_blocks(request.body.get("children"), workspace.new_id, workspace.name_of)
    siblings[at:at] = workspace.stamped(blocks, (workspace.now(), workspace.bot.id))
    workspace.content_changed(page, blocks, workspace.bot)
    parent = _parent(page, above)
    return listed([shapes.block(workspace, one, parent) for one in blocks], ApiRequest({}, {}, {}), "block")


def list_comments(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /comments with the open comments of a page or a block, oldest first.

    The comments of a page do not include those of its blocks.
    """
    request.permit(query="block_id page_size start_cursor")
    page, block = _page_or_block(workspace, id_of(request.parameter("block_id")))
    block_id = ""
    if block:
        block_id = block.id
    found = [
        one for one in workspace.comments.values() if (one.page, one.block) == (page.id, block_id) and not one.resolved
    ]
    return listed([shapes.comment(workspace, one) for one in found], request, "comment")


def get_comment(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /comments/{id}."""
    request.permit()
    comment = workspace.comments.get(request.id())
    if comment is None or not workspace.pages[comment.page].shared:
        raise not_found("comment", request.id())
    return shapes.comment(workspace, comment)


def create_comment(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer POST /comments."""
    request.permit(body="parent discussion_id rich_text markdown")
    if ("parent" in request.body) == ("discussion_id" in request.body):
        raise invalid("body failed validation: exactly one of parent and discussion_id should be defined")
    if ("rich_text" in request.body) == ("markdown" in request.body):
        raise invalid("body failed validation: exactly one of rich_text and markdown should be defined")
    if "markdown" in request.body:
        texts = rich_text.from_markdown(text_of(request.body, "markdown"))
    else:
        texts = rich_text.read(request.body["rich_text"], workspace.name_of)
    if not rich_text.plain(texts).strip():
        raise invalid("body.rich_text should not be empty")
    if "discussion_id" in request.body:
        before = _discussion(workspace, id_of(request.body["discussion_id"]))
        page = workspace.page(before.page)
        block_id = before.block
        discussion = before.discussion
    else:
        page, block_id = _comment_parent(workspace, object_of(request.body, "parent"))
        discussion = ""
    return shapes.comment(workspace, workspace.comment(page, block_id, texts, workspace.bot, discussion))


def _comment_parent(workspace: Workspace, parent: JsonObject) -> tuple[Page, str]:
    """Return the page of a new comment and the id of its block, empty for a comment on the page itself."""
    if set(parent) - {"type"} == {"page_id"}:
        return workspace.page(id_of(parent["page_id"])), ""
    if set(parent) - {"type"} == {"block_id"}:
        page, block = workspace.block(id_of(parent["block_id"]))
        return page, block.id
    raise invalid("body.parent should have exactly one of page_id and block_id")


def _discussion(workspace: Workspace, id_: str) -> Comment:
    for comment in workspace.comments.values():
        if comment.discussion == id_ and workspace.pages[comment.page].shared:
            return comment
    raise not_found("discussion", id_)


def _page_or_block(workspace: Workspace, id_: str) -> tuple[Page, Block | None]:
    """Return the page of an id, or the block of an id with its page; this API treats pages as blocks."""
    page = workspace.pages.get(id_)
    if page and page.shared:
        return (page, None)
    return workspace.block(id_)


def _children(page: Page, above: Block | None) -> list[Block]:
    if above:
        return above.children
    return page.blocks


def _position(siblings: list[Block], position: JsonObject) -> int:
    match position.get("type"):
        case "start":
            return 0
        case "end":
            return len(siblings)
        case "after_block":
            wanted = id_of(object_of(position, "after_block").get("id"))
            places = [index for index, block in enumerate(siblings) if block.id == wanted]
            if places:
                return places[0] + 1
            raise invalid("body.position.after_block.id should be one of the children")
        case _:
            raise invalid("body.position.type should be start, end or after_block")


def _parent(page: Page, above: Block | None) -> Answer:
    if above:
        return {"type": "block_id", "block_id": above.id}
    return {"type": "page_id", "page_id": page.id}
