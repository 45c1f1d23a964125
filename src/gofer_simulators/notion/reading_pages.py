"""The pages on which people read the simulated Notion."""

from collections.abc import Sequence
from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer_simulators.json_values import JsonObject, is_array, text_of
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.notion.blocks import Block, to_markdown
from gofer_simulators.notion.workspace import Comment, Page, Workspace
from gofer_simulators.web_pages import anchor, comment_html, facts, linked, missing_page, web_page

_SYSTEM = "Notion"


class ReadingPages:
    """The list of pages, and each page with its comments."""

    def __init__(self, workspace: Workspace, links: LocalLinks) -> None:
        self._workspace = workspace
        self._links = links

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/", self._list, methods=["GET"]),
            Route("/{page}", self._page, methods=["GET"]),
        ]

    async def _list(self, _: Request) -> Response:
        rows = "".join(
            f"<li>{anchor(f'/{_compact(page.id)}', page.title or 'Untitled', self._links)}</li>"
            for page in self._workspace.pages.values()
            if not page.trashed
        )
        return web_page(_SYSTEM, "Pages", f"<ul>{rows}</ul>")

    async def _page(self, request: Request) -> Response:
        # An address may have words before the id: `RFC-12-5f1c7d2e…`.
        wanted = _compact(request.path_params["page"])[-32:]
        for page in self._workspace.pages.values():
            if _compact(page.id) == wanted and not page.trashed:
                return web_page(_SYSTEM, page.title or "Untitled", self._content(page))
        return missing_page(_SYSTEM, f"page {wanted}")

    def _content(self, page: Page) -> str:
        values = [(name, self._value(page.values[name])) for name, one in page.columns.items() if one.kind != "title"]
        blocks = "".join(self._block(block) + self._comments(page, block.id) for block in page.blocks)
        return facts(values) + blocks + self._comments(page, "")

    def _block(self, block: Block) -> str:
        if block.type.startswith("heading_"):
            return f"<h2>{self._rich(block.rich_text)}</h2>"
        if block.rich_text and not block.children:
            return f'<div class="text">{self._rich(block.rich_text)}</div>'
        return f'<div class="text">{linked(to_markdown([block]), self._links)}</div>'

    def _rich(self, texts: Sequence[JsonObject]) -> str:
        pieces: list[str] = []
        for item in texts:
            words = text_of(item, "plain_text")
            if address := text_of(item, "href"):
                pieces.append(anchor(address, words, self._links))
            else:
                pieces.append(linked(words, self._links))
        return "".join(pieces)

    def _value(self, value: object) -> str:
        if is_array(value):
            return ", ".join(self._value(item) for item in value)
        if value is None:
            return ""
        user = self._workspace.users.get(str(value))
        if user is None:
            return str(value)
        return user.name

    def _comments(self, page: Page, block: str) -> str:
        comments = self._workspace.comments.values()
        return "".join(self._comment(one) for one in comments if (one.page, one.block) == (page.id, block))

    def _comment(self, comment: Comment) -> str:
        author = self._workspace.users.get(comment.created[1])
        name = author.name if author else "Unknown"
        return comment_html(name, self._rich(comment.texts))


def _compact(id_: str) -> str:
    return escape(id_.replace("-", ""))
