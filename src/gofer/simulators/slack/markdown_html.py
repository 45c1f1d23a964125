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
                    in_item = place > 1 and tokens[place - 2].type == "list_item_open"
                    pieces.append(self._task(token.children or []) if in_item else self._all(token.children or []))
                case "link_open":
                    opening = self._anchor(str(token.attrs.get("href", "")))
                    links.append(bool(opening))
                    pieces.append(opening)
                case "link_close":
                    pieces.append("</a>" if links.pop() else "")
                case _:
                    pieces.append(self._one(token))
        return "".join(pieces)

    def _task(self, children: Sequence[Token]) -> str:
        """The words of a list item, which may begin with a box."""
        first = children[0].content if children else ""
        box = _TASKS.get(first[:4], "")
        if not box:
            return self._all(children)
        return box + self._words(first[4:]) + self._all(children[1:])

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
