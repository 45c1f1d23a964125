"""How does the Markdown of a message look as HTML? All of it is escaped."""

from collections.abc import Callable, Sequence
from html import escape

from markdown_it.token import Token

from gofer.simulators.slack.markdown import PARSER

_TAGS = {
    "paragraph": "p", "heading": "h4", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li",
    "blockquote": "blockquote", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th",
    "td": "td", "strong": "b", "em": "i", "s": "s",
}  # fmt: skip
_TASKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


class MarkdownHtml:
    """Turns Markdown into HTML; how words and links look is given."""

    def __init__(self, words: Callable[[str], str], anchor: Callable[[str], str]) -> None:
        self._words = words
        self._anchor = anchor
        """The opening tag of a link; empty for an address nobody should follow."""

    def document(self, text: str) -> str:
        """A whole text."""
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
        """The words of one block; those of a list item may begin with a box."""
        children = token.children or []
        box = _TASKS.get(token.content[:4], "") if in_item else ""
        return box + self._words(children[0].content[4:]) + self._all(children[1:]) if box else self._all(children)

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
        tag = "" if token.hidden else _TAGS.get(kind, "")
        if not tag or token.nesting < 0:
            return f"</{tag}>" if tag else ""
        start = f' start="{token.attrs["start"]}"' if "start" in token.attrs else ""
        aligned = str(token.attrs.get("style", "")).removeprefix("text-align:")
        side = f' class="{escape(aligned)}"' if aligned else ""
        return f"<{tag}{start}{side}>"


def _is_task(after: Sequence[Token]) -> bool:
    return len(after) > 1 and after[1].type == "inline" and after[1].content[:4] in _TASKS
