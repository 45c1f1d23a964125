"""The reader of OpenDocument texts and presentations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gofer.files.extract.notation import (
    integer,
    markdown,
    markdown_link,
    merged_strikethrough,
    struck_through,
    superscript,
    with_author,
)
from gofer.files.extract.numbering import counted
from gofer.files.extract.xml_package import Element, Package, attribute, every

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_SHOWN = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}visibility"
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_CROSSED_OUT = ("", "none")


@dataclass(frozen=True, slots=True)
class _Level:
    """The numbering of one level of a list."""

    form: str
    before: str
    behind: str
    start: int
    above: int
    """The number of levels that an item's number shows, including its own."""


class Styles:
    """The styles of one document."""

    def __init__(self, trees: Iterable[Element | None]) -> None:
        self._levels: dict[tuple[str, int], _Level] = {}
        self._raised: set[str] = set()
        self._struck: set[str] = set()
        self._hidden: set[str] = set()
        for tree in trees:
            if tree is not None:
                self._read(tree)

    def start(self, style: str, depth: int) -> int:
        """Return the number of the first item on a level of a list. Levels are counted from 1."""
        level = self._levels.get((style, depth))
        if level is not None:
            return level.start
        return 1

    def label(self, style: str, numbers: list[int]) -> str:
        """Return the label of an item. `numbers` are the numbers of the enclosing items, then its own."""
        level = self._levels.get((style, len(numbers)))
        if level is None:
            return "- "
        own = range(max(0, len(numbers) - level.above), len(numbers))
        shown = [counted(numbers[at], self._form(style, at + 1)) for at in own]
        return f"{level.before}{'.'.join(shown)}{level.behind} "

    def formatted(self, style: str, text: str) -> str:
        """Return a text with the superscripts and strikethrough of its style."""
        if style in self._raised:
            text = superscript(text)
        if style in self._struck:
            return struck_through(text)
        return text

    def hidden(self, style: str) -> bool:
        """Return whether a slide in this style is hidden."""
        return style in self._hidden

    def _form(self, style: str, depth: int) -> str:
        level = self._levels.get((style, depth))
        if level is not None:
            return level.form
        return "decimal"

    def _read(self, tree: Element) -> None:
        for kind in tree.iter(f"{_TEXT}list-style"):
            for level in kind.iterchildren(f"{_TEXT}list-level-style-number"):
                if form := _FORMS.get(attribute(level, f"{_STYLE}num-format")):
                    before, behind = attribute(level, f"{_STYLE}num-prefix"), attribute(level, f"{_STYLE}num-suffix")
                    start = integer(attribute(level, f"{_TEXT}start-value"), 1)
                    above = integer(attribute(level, f"{_TEXT}display-levels"), 1)
                    depth = integer(attribute(level, f"{_TEXT}level"), 1)
                    self._levels[attribute(kind, f"{_STYLE}name"), depth] = _Level(form, before, behind, start, above)
        for style in tree.iter(f"{_STYLE}style"):
            name = attribute(style, f"{_STYLE}name")
            for about in style.iterchildren(f"{_STYLE}text-properties"):
                if attribute(about, f"{_STYLE}text-position").startswith("super"):
                    self._raised.add(name)
                if attribute(about, f"{_STYLE}text-line-through-style") not in _CROSSED_OUT:
                    self._struck.add(name)
            for about in style.iterchildren(f"{_STYLE}drawing-page-properties"):
                if attribute(about, _SHOWN) == "hidden":
                    self._hidden.add(name)


_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_CHART = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}"
_SHOW = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_SILENT = (f"{_TEXT}tracked-changes", f"{_TEXT}sequence-decls", f"{_OFFICE}forms")
_FURNITURE = ("page-number", "date-time", "footer", "header")
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_AROUND = (("header", ("header", "header-first", "header-left")), ("footer", ("footer", "footer-first", "footer-left")))
_MOST_SPACES = 100


def read(data: bytes) -> str:
    """Return headings, paragraphs, lists, tables, notes, comments, headers, slides, charts. Raises ToolError."""
    package = Package(data)
    content = package.tree("content.xml")
    styles = package.tree("styles.xml")
    body = next(every(content, f"{_OFFICE}body"), None)
    if body is None:
        return ""
    return _Open(package, Styles((styles, content))).text(body, styles)


class _Open:
    """The reading of one document."""

    def __init__(self, package: Package, styles: Styles) -> None:
        self._package = package
        self._styles = styles
        self._notes: list[str] = []
        self._endnotes: list[str] = []
        self._comments: list[str] = []
        self._lists: dict[str, int] = {}
        """The last number of each list that a later list may continue, by style."""
        self._slide = 0
        self._slides = 0

    def text(self, body: Element, styles: Element | None) -> str:
        self._slides = sum(1 for _ in body.iter(f"{_DRAW}page"))
        around = {
            kind: list(self._headers_or_footers(styles, kind, names)) for kind, names in _AROUND if styles is not None
        }
        blocks = [*around.get("header", ()), *self._blocks(body), *around.get("footer", ())]
        blocks += [f"[^{at}]: {text}" for at, text in enumerate(self._notes, 1)]
        blocks += [f"[^e{at}]: {text}" for at, text in enumerate(self._endnotes, 1)]
        blocks += [f"[comment {at}] {text}" for at, text in enumerate(self._comments, 1)]
        return "\n\n".join(block for block in blocks if block.strip())

    def _headers_or_footers(self, styles: Element, kind: str, names: tuple[str, ...]) -> Iterator[str]:
        """Yield the headers or footers without duplicates."""
        texts = [
            " ".join(block.strip() for block in self._blocks(part) if block.strip())
            for page in styles.iter(f"{_STYLE}master-page")
            for part in page.iterchildren(*(f"{_STYLE}{name}" for name in names))
        ]
        yield from (f"[{kind}] {text}" for text in dict.fromkeys(texts) if text)

    def _blocks(self, parent: Element) -> Iterator[str]:
        for child in parent.iterchildren():
            if child.tag in _SILENT or attribute(child, f"{_SHOW}class") in _FURNITURE:
                continue
            if child.tag == f"{_TEXT}h":
                level = integer(attribute(child, f"{_TEXT}outline-level"), 1)
                yield f"{'#' * min(level, 6)} {self._text_of(child)}"
            elif child.tag == f"{_TEXT}p":
                yield self._text_of(child)
            elif child.tag == f"{_TEXT}list":
                yield "\n".join(self._items(child, "", []))
            elif child.tag == f"{_TABLE}table":
                yield markdown(list(self._rows(child)))
            elif child.tag == f"{_DRAW}page":
                yield from self._page(child)
            elif child.tag == f"{_SHOW}notes":
                if text := " ".join(self._blocks(child)).strip():
                    yield f"[notes] {text}"
            elif child.tag == f"{_DRAW}object":
                yield self._chart(child)
            elif attribute(child, f"{_SHOW}class") == "title":
                if text := " ".join(" ".join(self._blocks(child)).split()):
                    yield f"## {text}"
            else:
                yield from self._blocks(child)

    def _page(self, page: Element) -> Iterator[str]:
        self._slide += 1
        hidden = ", hidden" * self._styles.hidden(attribute(page, f"{_DRAW}style-name"))
        yield f"[slide {self._slide} of {self._slides}{hidden}]"
        blocks = [block for block in self._blocks(page) if block.strip()]
        # The title comes first, at any place on the slide.
        yield from sorted(blocks, key=lambda block: not block.startswith("## "))

    def _chart(self, element: Element) -> str:
        """Return the data table of a chart; empty for any other embedded object."""
        name = attribute(element, _LINK).removeprefix("./")
        chart = next(every(self._package.tree(f"{name}/content.xml"), f"{_CHART}chart"), None)
        if not name or chart is None:
            return ""
        title = " ".join("".join(one.itertext()) for one in chart.iterchildren(f"{_CHART}title")).strip()
        tables = [
            markdown([[_value(cell) for cell in row.iterchildren(*_CELLS)] for row in table.iter(f"{_TABLE}table-row")])
            for table in chart.iterchildren(f"{_TABLE}table")
        ]
        return "\n\n".join([f"[chart{': ' * bool(title)}{title}]", *tables])

    def _items(self, element: Element, style: str, above: list[int]) -> Iterator[str]:
        style = attribute(element, f"{_TEXT}style-name") or style
        depth = len(above) + 1
        number = self._styles.start(style, depth) - 1
        goes_on = attribute(element, f"{_TEXT}continue-numbering") == "true" or attribute(
            element, f"{_TEXT}continue-list"
        )
        if depth == 1 and goes_on:
            number = self._lists.get(style, number)
        for item in element.iterchildren(f"{_TEXT}list-item", f"{_TEXT}list-header"):
            number = integer(attribute(item, f"{_TEXT}start-value"), number + 1)
            label = ""
            if item.tag == f"{_TEXT}list-item":
                label = self._styles.label(style, [*above, number])
            for inner in item.iterchildren():
                if inner.tag == f"{_TEXT}list":
                    yield from self._items(inner, style, [*above, number][-8:])
                else:
                    yield f"{'  ' * (depth - 1)}{label}{self._text_of(inner)}"
                    label = " " * len(label)
        if depth == 1:
            self._lists[style] = number

    def _rows(self, table: Element) -> Iterator[list[str]]:
        for child in table.iterchildren():
            if child.tag == f"{_TABLE}table-row":
                yield ["\n".join(self._in_cell(cell)) for cell in child.iterchildren(*_CELLS)]
            elif child.tag in (f"{_TABLE}table-header-rows", f"{_TABLE}table-rows", f"{_TABLE}table-row-group"):
                yield from self._rows(child)

    def _in_cell(self, cell: Element) -> Iterator[str]:
        """Yield the blocks of a cell. The rows of a nested table become lines, as Markdown has no nested tables."""
        for child in cell.iterchildren():
            if child.tag == f"{_TABLE}table":
                yield from ("; ".join(text for text in row if text.strip()) for row in self._rows(child))
            elif child.tag == f"{_TEXT}list":
                yield from self._items(child, "", [])
            elif child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                yield self._text_of(child)
            else:
                yield from self._blocks(child)

    def _text_of(self, element: Element) -> str:
        return merged_strikethrough("".join(self._inline(element))).strip()

    def _inline(self, element: Element) -> Iterator[str]:
        yield element.text or ""
        for child in element.iterchildren():
            if child.tag == f"{_TEXT}s":
                yield " " * min(integer(attribute(child, f"{_TEXT}c"), 1), _MOST_SPACES)
            elif child.tag == f"{_TEXT}tab":
                yield "\t"
            elif child.tag == f"{_TEXT}line-break":
                yield "\n"
            elif child.tag == f"{_TEXT}note":
                yield self._note(child)
            elif child.tag == f"{_OFFICE}annotation":
                yield self._comment(child)
            elif child.tag == f"{_TEXT}a":
                yield markdown_link(self._text_of(child), attribute(child, _LINK))
            elif child.tag == f"{_TEXT}span":
                yield self._styles.formatted(attribute(child, f"{_TEXT}style-name"), "".join(self._inline(child)))
            elif child.tag.startswith(_DRAW):
                yield "\n".join(block for block in self._blocks(child) if block.strip())
            else:
                yield from self._inline(child)
            yield child.tail or ""

    def _note(self, element: Element) -> str:
        body = element.find(f"{_TEXT}note-body")
        text = ""
        if body is not None:
            text = " ".join(self._blocks(body))
        if attribute(element, f"{_TEXT}note-class") == "endnote":
            self._endnotes.append(text)
            return f"[^e{len(self._endnotes)}]"
        self._notes.append(text)
        return f"[^{len(self._notes)}]"

    def _comment(self, element: Element) -> str:
        author = "".join(element.itertext(_CREATOR))
        text = " ".join(self._blocks(element)).strip()
        self._comments.append(with_author(author, text))
        return f"[comment {len(self._comments)}]"


def _value(cell: Element) -> str:
    """Return the text of a cell of a chart's table; empty for `NaN`, the mark of a missing value."""
    text = " ".join("".join(line.itertext()) for line in cell.iterchildren(f"{_TEXT}p"))
    if text == "NaN":
        return ""
    return text
