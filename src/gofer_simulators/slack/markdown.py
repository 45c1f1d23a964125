"""The Markdown of a message: how many blocks Slack makes of it, the limits of its tables, and its HTML."""

from collections.abc import Callable, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
MAX_ROWS = 100
MAX_COLUMNS = 20
MAX_CELLS = 10_000
_TAGS = {
    "paragraph": "p", "heading": "h4", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li",
    "blockquote": "blockquote", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th",
    "td": "td", "strong": "b", "em": "i", "s": "s",
}  # fmt: skip
_TASKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_OWN = frozenset({"heading_open", "table_open", "hr", "fence"})


def units(text: str) -> int:
    """Return the length of a text as JavaScript counts it.

    Slack does not document how it counts; this is the stricter way.
    """
    return len(text.encode("utf-16-le", "replace")) // 2


def block_count(tokens: Sequence[Token]) -> int:
    """Return how many blocks Slack makes of one markdown block.

    Each heading, table, rule and fence becomes a block, and so does each run of other content between them.
    """
    count = 0
    flowing = False
    for token in tokens:
        if token.type in _OWN:
            count = count + 1
            flowing = False
        elif token.level == 0 and token.nesting >= 0 and not flowing:
            count = count + 1
            flowing = True
    return count


def mistake_in_tables(tokens: Sequence[Token]) -> str:
    """Return the first mistake in the tables of a message, or the empty string."""
    rows = columns = cells = 0
    for place, token in enumerate(tokens):
        match token.type:
            case "table_open":
                rows = 0
            case "tr_open":
                rows = rows + 1
                columns = 0
            case "th_open" | "td_open":
                columns += 1
                cells += units(tokens[place + 1].content)
            case _:
                pass
        if rows > MAX_ROWS or columns > MAX_COLUMNS:
            return f"a table takes {MAX_ROWS} rows and {MAX_COLUMNS} columns"
    if cells > MAX_CELLS:
        return f"the cells of all tables take {MAX_CELLS} characters"
    return ""


class MarkdownHtml:
    """A writer of Markdown as HTML; its callers give the HTML of plain text and of links."""

    def __init__(self, words: Callable[[str], str], anchor: Callable[[str], str]) -> None:
        self._words = words
        self._anchor = anchor
        """Returns the opening tag of a link, empty for an address that must not become a link."""

    def document(self, text: str) -> str:
        """Return the HTML of a Markdown text."""
        return self._all(PARSER.parse(text))

    def _all(self, tokens: Sequence[Token]) -> str:
        pieces: list[str] = []
        links: list[bool] = []
        for place, token in enumerate(tokens):
            match token.type:
                case "inline":
                    pieces.append(self._inline(token, in_item=place > 1 and tokens[place - 2].type == "list_item_open"))
                case "list_item_open" if _is_task(tokens[place + 1 : place + 3]):
                    pieces.append('<li class="task">')
                case "link_open":
                    opening = self._anchor(str(token.attrs.get("href", "")))
                    links.append(bool(opening))
                    pieces.append(opening)
                case "link_close":
                    pieces.append("</a>" if links.pop() else "")
                case _:
                    pieces.append(self._one(token))
        return "".join(pieces)

    def _inline(self, token: Token, *, in_item: bool) -> str:
        """Return the HTML of one inline token, with a box for a task at the beginning of a list item."""
        children = token.children or []
        box = _TASKS.get(token.content[:4])
        if in_item and box:
            return box + self._words(children[0].content[4:]) + self._all(children[1:])
        return self._all(children)

    def _one(self, token: Token) -> str:
        match token.type:
            case "text":
                return self._words(token.content)
            case "code_inline":
                return f"<code>{escape(token.content)}</code>"
            case "fence" | "code_block":
                return f"<pre>{escape(token.content.rstrip())}</pre>"
            case "softbreak" | "hardbreak":
                return "<br>"
            case "hr":
                return "<hr>"
            case "image":
                opening = self._anchor(str(token.attrs.get("src", "")))
                return f"{opening}{escape(token.content)}{'</a>' if opening else ''}"
            case kind:
                return self._tag(token, kind.removesuffix("_open").removesuffix("_close"))

    def _tag(self, token: Token, kind: str) -> str:
        tag = _TAGS.get(kind)
        if token.hidden or not tag:
            return ""
        if token.nesting < 0:
            return f"</{tag}>"
        opening = f"<{tag}"
        if "start" in token.attrs:
            opening += f' start="{token.attrs["start"]}"'
        if alignment := str(token.attrs.get("style", "")).removeprefix("text-align:"):
            opening += f' class="{escape(alignment)}"'
        return f"{opening}>"


def _is_task(after: Sequence[Token]) -> bool:
    return len(after) > 1 and after[1].type == "inline" and after[1].content[:4] in _TASKS
