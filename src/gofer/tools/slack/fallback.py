"""The text of a message for places where Slack shows no blocks: notifications, screen readers, other programs.

The words of its Markdown in mrkdwn, which has links and code but neither headings nor tables; emphasis is left out, and
nothing is cut in the middle of a link or a word that fits.
"""

from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from gofer.tools.slack.markdown import parse

LIMIT = 3_000
"""UTF-8 bytes at most. Slack refuses an edit with more than 4,000; it may store an emoji as a longer name."""
_MORE = "…"
_LONGEST_WORD = 200
_BLOCK_ENDS = frozenset({"paragraph_close", "heading_close", "tr_close"})


def fallback(markdown: str) -> str:
    """Return the words of a text in at most LIMIT bytes."""
    text = ""
    size = 0
    for atom in _atoms(parse(markdown)):
        size += _bytes(atom)
        if size > LIMIT - _bytes(_MORE):
            return text.rstrip() + _MORE
        text += atom
    return text.strip() or _MORE


def escaped(text: str) -> str:
    """Text in which nothing acts in mrkdwn as an entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _atoms(tokens: Sequence[Token]) -> Iterator[str]:
    """The smallest parts that stay whole, in order."""
    numbers: list[int | None] = []
    for token in tokens:
        match token.type:
            case "ordered_list_open":
                numbers.append(int(token.attrs.get("start", 1)))
            case "bullet_list_open":
                numbers.append(None)
            case "ordered_list_close" | "bullet_list_close":
                numbers.pop()
            case "list_item_open":
                yield _marker(numbers)
            case "inline":
                yield from _inline(token.children or ())
            case "td_close" | "th_close":
                yield "  "
            case "fence" | "code_block":
                yield from _words(token.content)
            case kind if kind in _BLOCK_ENDS:
                yield "\n"
            case _:
                pass


def _marker(numbers: list[int | None]) -> str:
    indent, number = "  " * (len(numbers) - 1), numbers[-1]
    if number is None:
        return f"{indent}• "
    numbers[-1] = number + 1
    return f"{indent}{number}. "


def _inline(children: Sequence[Token]) -> Iterator[str]:
    place = 0
    while place < len(children):
        child = children[place]
        match child.type:
            case "link_open":
                end = next(index for index in range(place, len(children)) if children[index].type == "link_close")
                label = "".join(inner.content for inner in children[place:end])
                yield from _link(str(child.attrs.get("href", "")), label)
                place = end
            case "image":
                yield from _link(str(child.attrs.get("src", "")), child.content)
            case "code_inline" if "`" not in child.content and len(child.content) <= _LONGEST_WORD:
                yield f"`{escaped(child.content)}`"
            case "softbreak" | "hardbreak":
                yield "\n"
            case _:
                yield from _words(child.content)
        place += 1


def _link(address: str, label: str) -> Iterator[str]:
    label = " ".join(label.split())
    link = f"<{escaped(address.replace('|', '%7C').replace(' ', '%20'))}|{escaped(label or address)}>"
    if address.startswith(("http://", "https://", "mailto:")) and _bytes(link) <= LIMIT // 2:
        yield link
    else:
        yield from _words(label or address)


def _words(text: str) -> Iterator[str]:
    word = ""
    for char in text:
        word += char
        if char.isspace() or len(word) == _LONGEST_WORD:
            yield escaped(word)
            word = ""
    yield escaped(word)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
