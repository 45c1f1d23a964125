"""The reader of Word documents in reading order, with notes, comments, headers and footers."""

from collections.abc import Iterator

from gofer.files.completeness import Reading
from gofer.files.extract.notation import (
    hidden,
    integer,
    markdown,
    merged_strikethrough,
    struck_through,
    superscript,
    with_author,
)
from gofer.files.extract.numbering import Numbering
from gofer.files.extract.office_objects import CHART, DIAGRAM, drawn, formula
from gofer.files.extract.xml_package import RELATIONSHIPS, Element, Package, attribute, every
from gofer.values.missing import Missing

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# The names are built once, because they are compared with every element of a document.
_P = f"{W}p"
_TABLE = f"{W}tbl"
_ROW = f"{W}tr"
_CELL = f"{W}tc"
_RUN = f"{W}r"
_TEXT = f"{W}t"
_DELETED = f"{W}del"
_DELETED_TEXT = f"{W}delText"
_LINK = f"{W}hyperlink"
_SYMBOL = f"{W}sym"
_BOX = f"{W}txbxContent"
_KIND = f"{W}type"
_VALUE = f"{W}val"
_ABOUT_P = f"{W}pPr"
_ABOUT_R = f"{W}rPr"
_STYLE = f"{W}pStyle"
_REFERENCES = frozenset({f"{W}footnoteReference", f"{W}endnoteReference", f"{W}commentReference"})
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/"
_MAIN = "word/document.xml"

_LITERAL = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}softHyphen": ""}
_OFF = ("0", "false", "off", "none")
_SILENT = frozenset(
    {f"{W}pPr", f"{W}rPr", f"{W}instrText", f"{W}moveFrom", f"{W}tblPr", f"{W}tcPr", f"{W}trPr", f"{W}sectPr"}
    | {f"{W}tblGrid", f"{W}fldData", f"{W}sdtPr", f"{W}rt", f"{W}annotationRef"}
)
_LEVELS = 9
_WHITE = "FFFFFF"
_UNSHADED = ("", "AUTO", _WHITE)
_READABLE = 6
"""The smallest size of text that people can read, in half points."""


def read(data: bytes) -> Reading:
    """Return the text as Markdown: headings, lists, tables, notes, comments, headers, footers. Raises ToolError."""
    package = Package(data)
    text = _Word(package).text()
    if any(map(str.isalnum, text)) or not package.names("word/media/"):
        return Reading(text)
    reason = "the reader does not read text in images, and the document has nothing else"
    return Reading(text, (Missing("scans", "the text in its images", reason, instead="ask for the file as a PDF"),))


class _Word:
    """The reading of one document."""

    def __init__(self, package: Package) -> None:
        self._package = package
        main = next((name for name in package.names("word/document") if name.endswith(".xml")), _MAIN)
        self._main = main
        self._relations: dict[str, tuple[str, str]] = {}
        """The relations of the part that is being read."""
        styles = package.tree("word/styles.xml")
        self._headings = _headings(styles)
        self._numbering = Numbering(package.tree("word/numbering.xml"), styles)
        self._notes: dict[str, dict[str, int]] = {"footnote": {}, "endnote": {}, "comment": {}}
        self._deleted = 0

    def text(self) -> str:
        body = self._part(self._main)
        beside: list[str] = []
        for kind, mark in (("footnote", "^"), ("endnote", "^e")):
            beside += [f"[{mark}{number}]: {text}" for number, text in self._numbered(f"word/{kind}s.xml", kind)]
        comments = [f"[comment {number}] {text}" for number, text in self._numbered("word/comments.xml", "comment")]
        parts = [*self._headers_or_footers("header"), *body, *self._headers_or_footers("footer"), *beside, *comments]
        if self._deleted:
            parts.append(f"[tracked changes: {self._deleted} deleted passages are ~~struck through~~]")
        return "\n\n".join(part for part in parts if part.strip())

    def _part(self, name: str) -> list[str]:
        """Return the paragraphs and tables of a part."""
        self._relations = self._package.relations(name)
        return [self._block(element) for element in self._package.outermost(name, (_P, _TABLE))]

    def _block(self, element: Element) -> str:
        if element.tag == _TABLE:
            return self._table(element)
        return self._paragraph(element)

    def _paragraph(self, element: Element) -> str:
        text = merged_strikethrough("".join(self._inline(element))).strip("\n")
        if not text.strip():
            return ""
        about = next(element.iterchildren(_ABOUT_P), None)
        if about is None or not len(about):
            return text
        style = attribute(next(about.iterchildren(_STYLE), None), _VALUE)
        level = self._headings.get(style, 0)
        indent, label = self._numbering.label(about, style)
        if level:
            return f"{'#' * level} {label}{text.strip()}"
        if label:
            return f"{indent}{label}{text}"
        return text

    def _inline(self, element: Element) -> Iterator[str]:
        for child in element.iterchildren():
            tag = child.tag
            if tag == _TEXT:
                yield child.text or ""
            elif tag == _RUN:
                yield self._run(child)
            elif tag in _SILENT:
                continue
            elif tag in _LITERAL:
                if attribute(child, _KIND) != "page":
                    yield _LITERAL[tag]
            elif tag == _DELETED_TEXT:
                yield child.text or ""
            elif tag == _DELETED:
                if text := "".join(self._inline(child)):
                    self._deleted += 1
                    yield f"~~{text}~~"
            elif tag == _LINK:
                yield self._link(child)
            elif tag in _REFERENCES:
                yield self._reference(child)
            elif tag == _MATH:
                yield formula(child)
            elif tag in (CHART, DIAGRAM):
                yield f"\n{drawn(child, self._package, self._relations)}\n"
            elif tag == _SYMBOL:
                yield _symbol(child)
            elif tag == _ALTERNATE:
                # The fallback has the same content for older programs.
                choice = child.find(_CHOICE)
                if choice is None:
                    choice = child
                yield from self._inline(choice)
            elif tag == _BOX:
                boxed = [self._block(block) for block in child.iterchildren(_P, _TABLE)]
                yield "\n" + "\n".join(text for text in boxed if text) + "\n"
            elif tag.startswith(_DRAWN) and tag.endswith("}docPr"):
                yield _picture(child)
            elif tag in (_P, _TABLE):
                yield self._block(child) + "\n"
            else:
                yield from self._inline(child)

    def _run(self, element: Element) -> str:
        """Return the visible text of a run, with superscripts and strikethrough."""
        text = "".join(self._inline(element))
        about = next(element.iterchildren(_ABOUT_R), None)
        if about is None or not text:
            return text
        if _is_on(about, "vanish"):
            return ""
        if _is_unseen(about, element):
            return hidden(text)
        place = about.find(f"{W}vertAlign")
        if place is not None and attribute(place, _VALUE) == "superscript":
            text = superscript(text)
        if _is_on(about, "strike") or _is_on(about, "dstrike"):
            return struck_through(text)
        return text

    def _link(self, element: Element) -> str:
        text = "".join(self._inline(element))
        _, target = self._relations.get(attribute(element, f"{RELATIONSHIPS}id"), ("", ""))
        if text.strip() and target and target != text:
            return f"[{text}]({target})"
        return text

    def _reference(self, element: Element) -> str:
        kind = element.tag.removeprefix(W).removesuffix("Reference")
        known = self._notes[kind]
        number = known.setdefault(attribute(element, f"{W}id"), len(known) + 1)
        return {"footnote": f"[^{number}]", "endnote": f"[^e{number}]"}.get(kind, f"[comment {number}]")

    def _numbered(self, name: str, kind: str) -> list[tuple[int, str]]:
        """Return the notes of a part by their numbers in the text. Comments without a reference get further numbers."""
        known = self._notes[kind]
        found: list[tuple[int, str]] = []
        tree = self._package.tree(name)
        self._relations = self._package.relations(name)
        for note in every(tree, f"{W}{kind}"):
            author = attribute(note, f"{W}author")
            text = " ".join(self._block(block).strip() for block in note.iterchildren(_P, _TABLE)).strip()
            identity = attribute(note, f"{W}id")
            if text and (identity in known or kind == "comment"):
                number = known.setdefault(identity, len(known) + 1)
                found.append((number, with_author(author, text)))
        return sorted(found)

    def _headers_or_footers(self, kind: str) -> list[str]:
        """Return the headers or footers without duplicates."""
        texts: list[str] = []
        for name in self._package.names(f"word/{kind}"):
            if name.endswith(".xml"):
                text = " ".join(block.strip() for block in self._part(name) if block.strip())
                if text and f"[{kind}] {text}" not in texts:
                    texts.append(f"[{kind}] {text}")
        return texts

    def _rows(self, table: Element) -> list[list[str]]:
        return [[cell for column in _within(row, _CELL) for cell in self._cell(column)] for row in _within(table, _ROW)]

    def _within_cell(self, element: Element) -> str:
        """Return a paragraph of a cell, or a nested table as lines, because Markdown has no nested tables."""
        if element.tag == _P:
            return self._paragraph(element)
        return "\n".join("; ".join(cell for cell in row if cell.strip()) for row in self._rows(element))

    def _table(self, element: Element) -> str:
        rows = self._rows(element)
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]  # A table of one cell is a frame around text.
        return markdown(rows)

    def _cell(self, element: Element) -> list[str]:
        """Return the text of a cell, followed by an empty cell for each further column that it spans."""
        width = attribute(element.find(f"{W}tcPr/{W}gridSpan"), f"{W}val")
        merged = element.find(f"{W}tcPr/{W}vMerge")
        text = "\n".join(block for child in _within(element, _P, _TABLE) if (block := self._within_cell(child)))
        if merged is not None and attribute(merged, f"{W}val") != "restart":
            text = ""
        return [text] + [""] * (min(integer(width, 1), 64) - 1)


def _within(element: Element, *tags: str) -> Iterator[Element]:
    """Yield the children with these tags, including children in content controls and tracked insertions."""
    for child in element.iterchildren():
        if child.tag in tags:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml", f"{W}smartTag"):
            yield from _within(child, *tags)


def _is_on(about: Element, name: str) -> bool:
    """Return whether a property is present and not switched off."""
    found = about.find(f"{W}{name}")
    return found is not None and attribute(found, f"{W}val") not in _OFF


def _is_unseen(about: Element, run: Element) -> bool:
    """Return whether a run is white on white, or too small to read."""
    if integer(attribute(about.find(f"{W}sz"), _VALUE), _READABLE) < _READABLE:
        return True
    if attribute(about.find(f"{W}color"), _VALUE).upper() != _WHITE or about.find(f"{W}highlight") is not None:
        return False
    above: Element | None = run
    while above is not None:
        # Text boxes may have a colour of their own.
        if above.tag == _BOX or _shading(above).upper() not in _UNSHADED:
            return False
        above = above.getparent()
    return True


def _shading(element: Element) -> str:
    """Return the colour behind a run, a paragraph, a cell or a table; empty without one of its own."""
    if element.tag not in (_RUN, _P, _CELL, _TABLE):
        return ""
    return attribute(element.find(f"{element.tag}Pr/{W}shd"), f"{W}fill")


def _headings(styles: Element | None) -> dict[str, int]:
    """Return the heading level of each heading style."""
    levels: dict[str, int] = {}
    for style in every(styles, f"{W}style"):
        name = attribute(style.find(f"{W}name"), f"{W}val").lower()
        level = attribute(style.find(f"{W}pPr/{W}outlineLvl"), f"{W}val")
        if name == "title":
            levels[attribute(style, f"{W}styleId")] = 1
        elif name.startswith("heading ") and (named := integer(name[8:], 0)):
            levels[attribute(style, f"{W}styleId")] = min(named, 6)
        elif (outlined := integer(level, _LEVELS)) < _LEVELS:
            levels[attribute(style, f"{W}styleId")] = min(outlined + 1, 6)
    return levels


def _symbol(element: Element) -> str:
    try:
        code = int(attribute(element, f"{W}char"), 16)
    except ValueError:
        return ""
    # Symbol fonts use the private area at the code of a Latin letter, so the shown sign is unknown.
    if 0xF000 <= code <= 0xF0FF:
        return "•"
    if code < 0x110000:
        return chr(code)
    return ""


def _picture(element: Element) -> str:
    description = attribute(element, "descr") or attribute(element, "title")
    if description:
        return f"[image: {description}]"
    return ""
