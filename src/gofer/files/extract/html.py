"""The reader of web pages, as Markdown, without scripts and without loading links."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gofer.files.extract.notation import integer, markdown, struck_through, superscript
from gofer.files.extract.plain import text_of, tidy

_SILENT = frozenset(
    {"script", "style", "noscript", "template", "svg", "iframe", "object", "head", "canvas", "audio", "video", "select"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "body", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure"}
    | {
        "footer",
        "form",
        "header",
        "hgroup",
        "main",
        "nav",
        "p",
        "section",
        "summary",
        "blockquote",
        "caption",
        "center",
    }
)
_LISTS = ("ul", "ol")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MARKS = {"sup": superscript, "del": struck_through, "s": struck_through, "strike": struck_through}
_SPACES = re.compile(r"[ \t\r\n\f]+")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNSEEN = re.compile(
    r"(?<![\w-])(?:color\s*:\s*(?:white|transparent|#fff(?:fff)?\b|rgb\(\s*255\s*,\s*255\s*,\s*255)"
    r"|opacity\s*:\s*0(?:\.0*)?(?![\d.])|font-size\s*:\s*[01](?:\.\d*)?(?:px|pt)?\s*(?:;|$))",
    re.IGNORECASE,
)
"""A style that shows text white, transparent or too small to read."""
_DEEPEST_LIST = 8
_WIDEST_SPAN = 100
_LONGEST_SPAN = 65_534
_SPANNED = 1_000
"""The number of columns in which a cell may span rows."""


def read(data: bytes) -> str:
    """Return the page as Markdown: headings, lists, tables, links, code. Raises ToolError for binary data."""
    return read_text(text_of(data).text)


def read_text(html: str) -> str:
    """Return decoded HTML as Markdown."""
    parser = LexborHTMLParser(tidy(html))
    # In reverse order, so that inner nodes are visited before their parents are removed.
    for node in reversed(parser.css("[hidden], [style]")):
        attributes = node.attributes
        if "hidden" in attributes or _HIDDEN.search(attributes.get("style") or ""):
            node.decompose()
    page = _Page({node.mem_id for node in parser.css("[style]") if _is_unseen(node)})
    title = parser.css_first("head > title")
    if parser.body is not None:
        page.walk(parser.body)
    text = page.text()
    named = " ".join(title.text().split()) if title is not None else ""
    if named and named not in text[:500]:
        return f"[page title: {named}]\n\n{text}".strip()
    return text


@dataclass(slots=True)
class _Table:
    rows: list[list[str]] = field(default_factory=list[list[str]])
    outer: list[str] = field(default_factory=list[str])
    """The blocks before the table."""
    outside_cells: list[str] = field(default_factory=list[str])
    """The text outside of cells, such as a caption."""
    wide: int = 1
    tall: int = 1
    """The columns and rows that the current cell spans."""
    covered: dict[int, int] = field(default_factory=dict[int, int])
    """The number of further rows that a cell from above covers, by column."""

    def add(self, text: str) -> None:
        """Add a cell in the next column that no cell from above covers."""
        if not self.rows:
            self.rows.append([])
        self._past_covered()
        row = self.rows[-1]
        if self.tall > 1:
            below = range(len(row), min(len(row) + self.wide, _SPANNED))
        else:
            below = ()
        row += [text, *[""] * (self.wide - 1)]
        self.covered |= dict.fromkeys(below, self.tall - 1)
        self.wide = self.tall = 1

    def end_row(self) -> None:
        """End a row. Cells from above that cover columns after its last cell cover one row less."""
        if self.covered:
            self._past_covered()
            width = len(self.rows[-1])
            for at in [at for at in self.covered if at >= width]:
                self._cover(at)

    def _past_covered(self) -> None:
        row = self.rows[-1]
        while len(row) in self.covered:
            self._cover(len(row))
            row.append("")

    def _cover(self, at: int) -> None:
        self.covered[at] -= 1
        if not self.covered[at]:
            del self.covered[at]


def _is_unseen(node: LexborNode) -> bool:
    style = node.attributes.get("style") or ""
    return "background" not in style.lower() and _UNSEEN.search(style) is not None


class _Page:
    """The text of a page while it is written: complete blocks, and the parts of the current line."""

    def __init__(self, unseen: Collection[int] = ()) -> None:
        self._unseen = unseen
        """The ids of the elements with text that people do not see."""
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._lists: list[int] = []
        """The number of the last item of each open list; -1 for a list without numbers."""
        self._tables: list[_Table] = []
        self._links: list[tuple[str, int]] = []
        self._marks: list[int] = []
        """The beginnings of superscripts and strikethrough in the current line."""
        self._marker = ""
        self._preformatted = 0
        self._begin: dict[str, Callable[[str, LexborNode], None]] = {
            **dict.fromkeys(_BLOCKS, self._begin_block),
            **dict.fromkeys(_HEADINGS, self._begin_heading),
            **dict.fromkeys(_LISTS, self._begin_list),
            **dict.fromkeys(("br", "hr", "img", "input"), self._begin_sign),
            **dict.fromkeys(_MARKS, self._begin_mark),
            **dict.fromkeys(("td", "th"), self._begin_cell),
            "dd": self._begin_described,
            "li": self._begin_item,
            "pre": self._begin_code,
            "a": self._begin_link,
            "table": self._begin_table,
            "tr": self._begin_row,
        }
        self._end: dict[str, Callable[[str], None]] = {
            **dict.fromkeys((*_BLOCKS, "dd", "li"), self._end_block),
            **dict.fromkeys((*_HEADINGS, "p"), self._end_paragraph),
            **dict.fromkeys(_LISTS, self._end_list),
            **dict.fromkeys(_MARKS, self._end_mark),
            **dict.fromkeys(("td", "th"), self._end_cell),
            "pre": self._end_code,
            "a": self._end_link,
            "tr": self._end_row,
            "table": self._end_table,
        }

    def text(self) -> str:
        self._end_line()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._blocks)).strip()

    def walk(self, root: LexborNode) -> None:
        """Visit the whole tree without recursion, because a page may be nested without limit."""
        opened: list[tuple[LexborNode, str, str]] = []
        begin, end = self._begin.get, self._end.get
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or "-"
            if tag == "-text":
                self._append_text(node.text_content or "")
            elif tag not in _SILENT and tag[0] not in "-!_":
                if (begun := begin(tag)) is not None:
                    begun(tag, node)
                if (inner := node.child) is not None:
                    closing = ""
                    if self._unseen and node.mem_id in self._unseen:
                        self._line.append("[hidden: ")
                        closing = "]"
                    opened.append((node, tag, closing))
                    node = inner
                    continue
                if (ended := end(tag)) is not None:
                    ended(tag)
            while (following := node.next) is None and opened:
                node, tag, closing = opened.pop()
                if closing:
                    self._line.append(closing)
                if (ended := end(tag)) is not None:
                    ended(tag)
            node = following if opened else None

    def _begin_heading(self, tag: str, node: LexborNode) -> None:
        self._new_block(f"{'#' * int(tag[1])} ")

    def _begin_block(self, tag: str, node: LexborNode) -> None:
        self._new_block("> " if tag == "blockquote" else "")

    def _begin_list(self, tag: str, node: LexborNode) -> None:
        self._end_line()
        begin = -1
        if tag == "ol":
            begin = max(integer(node.attributes.get("start") or "", 1) - 1, 0)
        self._lists.append(begin)

    def _begin_described(self, tag: str, node: LexborNode) -> None:
        self._end_line()
        self._marker = "  "

    def _begin_item(self, tag: str, node: LexborNode) -> None:
        self._end_line()
        depth = "  " * min(max(len(self._lists) - 1, 0), _DEEPEST_LIST)
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            self._marker = f"{depth}{self._lists[-1]}. "
        else:
            self._marker = f"{depth}- "

    def _begin_sign(self, tag: str, node: LexborNode) -> None:
        """Write an element without content."""
        if tag == "br":
            self._line.append("\n")
        elif tag == "hr":
            self._end_line()
            self._blocks += ["", "---", ""]
        elif tag == "img" and (alt := " ".join((node.attributes.get("alt") or "").split())):
            self._line.append(f"[image: {alt}]")
        elif tag == "input" and node.attributes.get("type") in ("checkbox", "radio"):
            self._line.append("[x] " if "checked" in node.attributes else "[ ] ")

    def _begin_code(self, tag: str, node: LexborNode) -> None:
        self._new_block("")
        self._preformatted += 1
        self._blocks.append("```")

    def _begin_link(self, tag: str, node: LexborNode) -> None:
        self._links.append((_address(node.attributes), len(self._line)))

    def _begin_mark(self, tag: str, node: LexborNode) -> None:
        self._marks.append(len(self._line))

    def _begin_table(self, tag: str, node: LexborNode) -> None:
        self._end_line()
        self._tables.append(_Table(outer=self._blocks))
        self._blocks = []

    def _begin_row(self, tag: str, node: LexborNode) -> None:
        if self._tables:
            self._tables[-1].rows.append([])

    def _begin_cell(self, tag: str, node: LexborNode) -> None:
        if self._tables:
            self._collect_outside_cells()
            if attributes := node.attributes:
                table = self._tables[-1]
                table.wide = _span(attributes.get("colspan"), _WIDEST_SPAN)
                table.tall = _span(attributes.get("rowspan"), _LONGEST_SPAN)

    def _end_paragraph(self, tag: str) -> None:
        self._end_line()
        self._blocks.append("")

    def _end_list(self, tag: str) -> None:
        self._end_line()
        if self._lists:
            self._lists.pop()
        if not self._lists:
            self._blocks.append("")

    def _end_block(self, tag: str) -> None:
        self._end_line()

    def _end_code(self, tag: str) -> None:
        self._end_line()
        self._preformatted = max(0, self._preformatted - 1)
        self._blocks += ["```", ""]

    def _end_link(self, tag: str) -> None:
        address, begin = self._links.pop()
        if address:
            text = "".join(self._line[begin:])
            shown = text.strip()
            if shown and "\n" not in shown and shown != address:
                self._line[begin:] = [text[: len(text) - len(text.lstrip())], f"[{shown}]({address})"]

    def _end_mark(self, tag: str) -> None:
        begin = self._marks.pop()
        self._line[begin:] = [_MARKS[tag]("".join(self._line[begin:]))]

    def _end_row(self, tag: str) -> None:
        if self._tables:
            self._tables[-1].end_row()

    def _append_text(self, text: str) -> None:
        if self._preformatted:
            self._line.append(text)
        elif not text.isspace():
            self._line.append(_SPACES.sub(" ", text) if "\n" in text or "  " in text or "\t" in text else text)
        elif self._line and not self._line[-1].endswith((" ", "\n")):
            self._line.append(" ")

    def _new_block(self, marker: str) -> None:
        self._end_line()
        if marker:
            self._blocks.append("")
            self._marker = marker

    def _end_line(self) -> None:
        if not self._line:
            return
        line = "".join(self._line)
        self._line = []
        if self._preformatted:
            text = line.strip("\n")
        elif "\n" in line:
            text = "\n".join(part.strip() for part in line.split("\n")).strip()
        else:
            text = line.strip()
        if text:
            self._blocks.append(f"{self._marker}{text}")
            self._marker = ""

    def _end_cell(self, tag: str) -> None:
        self._end_line()
        if not self._tables:
            return
        self._tables[-1].add("\n".join(block for block in self._blocks if block))
        self._blocks = []

    def _collect_outside_cells(self) -> None:
        self._end_line()
        self._tables[-1].outside_cells += [block for block in self._blocks if block]
        self._blocks = []

    def _end_table(self, tag: str) -> None:
        self._collect_outside_cells()
        table = self._tables.pop()
        self._blocks = table.outer
        outside_cells = table.outside_cells
        widest = max((sum(bool(text) for text in row) for row in table.rows), default=0)
        if widest <= 1 or self._tables:
            # The table only lays out the page, or is nested in a cell.
            inner = [" ".join(text for text in row if text) if self._tables else "\n".join(row) for row in table.rows]
            self._blocks += [*outside_cells, *inner, ""]
        else:
            self._blocks += ["", *outside_cells, markdown(table.rows), ""]


def _span(text: str | None, most: int) -> int:
    """Return the number of columns or rows that a cell spans. 0 means all that follow."""
    if text is None or not text.strip().isdecimal():
        return 1
    return min(int(text.strip()[:9]) or most, most)


def _address(attributes: dict[str, str | None]) -> str:
    """Return the address of a web or mail link; empty for any other link."""
    address = (attributes.get("href") or "").strip()
    if address.lower().startswith(("https://", "http://", "mailto:")) and len(address) < 2_000:
        return address
    return ""
