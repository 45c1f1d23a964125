"""The reader of PowerPoint presentations, slide by slide, with notes and comments."""

from collections.abc import Iterator, Sequence

from gofer.files.completeness import AGAIN, Reading, numbered
from gofer.files.extract.notation import (
    hidden,
    integer,
    markdown,
    markdown_link,
    merged_strikethrough,
    struck_through,
    superscript,
    with_author,
)
from gofer.files.extract.office_objects import CHART, DIAGRAM, drawn, formula
from gofer.files.extract.xml_package import RELATIONSHIPS, Element, Package, attribute
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_MAIN = "ppt/presentation.xml"
_SHAPE = f"{P}sp"
_PICTURE = f"{P}pic"
_FRAME = f"{P}graphicFrame"
_GROUP = f"{P}grpSp"
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(data: bytes) -> Reading:
    """Return the text of each slide under a marker: title, text, tables, charts, notes, comments. Raises ToolError."""
    package = Package(data)
    names = list(_order(package))
    if not names:
        raise ToolError("The presentation has no slides.", code="empty")
    authors = _authors(package)
    slides = [_Slide(package, name, authors) for name in names]
    text = "\n\n".join(slide.text(at, len(names)) for at, slide in enumerate(slides, 1))
    return Reading(text, tuple(_missing(slides)))


def _missing(slides: Sequence["_Slide"]) -> Iterator[Missing]:
    if gone := [at for at, slide in enumerate(slides, 1) if slide.is_gone]:
        yield Missing("slides", numbered("slide", gone), "the file does not hold what it lists", instead=AGAIN)
    if drawn := [at for at, slide in enumerate(slides, 1) if slide.is_picture]:
        reason = "the reader does not read text in images"
        yield Missing("scans", f"the text of {numbered('slide', drawn)}", reason, instead="ask for the file as a PDF")


def _order(package: Package) -> Iterator[str]:
    """Yield the parts of the slides in the order of the presentation, which differs from the numbers in their names."""
    tree = package.tree(_MAIN)
    relations = package.relations(_MAIN)
    if tree is None:
        return
    for slide in tree.iter(f"{P}sldId"):
        kind, target = relations.get(attribute(slide, f"{RELATIONSHIPS}id"), ("", ""))
        if kind == "slide":
            yield target


def _authors(package: Package) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("ppt/commentAuthors.xml", "ppt/authors.xml"):
        tree = package.tree(name)
        if tree is None:
            continue
        for author in tree.iterchildren():
            found[attribute(author, "id")] = attribute(author, "name")
    return found


class _Slide:
    """The reading of one slide."""

    def __init__(self, package: Package, name: str, authors: dict[str, str]) -> None:
        self._package = package
        self._authors = authors
        self._tree = package.tree(name)
        self._relations = package.relations(name)

    @property
    def is_gone(self) -> bool:
        """Whether the slide is listed but missing in the file."""
        return self._tree is None

    @property
    def is_picture(self) -> bool:
        """Whether the slide has pictures and no text."""
        if self._tree is None or next(self._tree.iter(_PICTURE), None) is None:
            return False
        return not any((text.text or "").strip() for text in self._tree.iter(f"{A}t"))

    def text(self, number: int, of: int) -> str:
        tree = self._tree
        if tree is None:
            return f"[slide {number} of {of}: missing]"
        skipped = ", hidden" * (attribute(tree, "show") == "0")
        found: list[tuple[bool, str]] = []
        shapes = tree.find(f"{P}cSld/{P}spTree")
        if shapes is not None:
            found += self._shapes(shapes)
        # The title comes first. The other shapes keep their order.
        blocks = [text for _, text in sorted(found, key=lambda pair: not pair[0]) if text]
        parts = [f"[slide {number} of {of}{skipped}]", *blocks, *self._notes(), *self._comments()]
        if len(parts) > 1:
            return "\n\n".join(parts)
        return f"{parts[0]}\n\n(This slide has no text.)"

    def _shapes(self, parent: Element) -> Iterator[tuple[bool, str]]:
        """Yield for each shape whether it is the title, and its text."""
        for shape in parent.iterchildren():
            if _is_hidden(shape):
                yield from ((False, hidden(text)) for _, text in self._shape(shape))
            else:
                yield from self._shape(shape)

    def _shape(self, shape: Element) -> Iterator[tuple[bool, str]]:
        """Yield the same for one shape, or for those of a group."""
        if shape.tag == _GROUP:
            yield from self._shapes(shape)
        elif shape.tag == _ALTERNATE:
            choice = shape.find(_CHOICE)
            if choice is None:
                choice = shape
            yield from self._shapes(choice)
        elif shape.tag == _FRAME:
            yield False, self._frame(shape)
        elif shape.tag == _PICTURE:
            description = attribute(shape.find(f"{P}nvPicPr/{P}cNvPr"), "descr")
            yield False, f"[image: {description}]" * bool(description)
        elif shape.tag == _SHAPE:
            text = self._text_of(shape)
            title = _role(shape) in _TITLES
            if title and text:
                text = f"## {' '.join(text.split())}"
            yield title, text

    def _text_of(self, shape: Element) -> str:
        """Return the text of a shape; empty for repeated elements such as the slide number."""
        body = shape.find(f"{P}txBody")
        if body is None or _role(shape) in _FURNITURE:
            return ""
        return self._paragraphs(body)

    def _paragraphs(self, body: Element) -> str:
        lines: list[str] = []
        for paragraph in body.iterchildren(f"{A}p"):
            text = merged_strikethrough("".join(self._runs(paragraph))).strip()
            about = paragraph.find(f"{A}pPr")
            bullet = about is not None and any(about.find(f"{A}{kind}") is not None for kind in ("buChar", "buAutoNum"))
            depth = min(integer(attribute(about, "lvl"), 0), 8)
            if text and (depth or bullet):
                text = f"{'  ' * depth}- {text}"
            if text:
                lines.append(text)
        return "\n".join(lines)

    def _runs(self, paragraph: Element) -> Iterator[str]:
        for run in paragraph.iterchildren():
            if run.tag == f"{A}br":
                yield "\n"
            for text in run.iterchildren(f"{A}t"):
                yield self._linked(run, _formatted(run, text.text or ""))
            if run.tag.endswith("}m"):
                yield formula(run)

    def _linked(self, run: Element, text: str) -> str:
        link = run.find(f"{A}rPr/{A}hlinkClick")
        if link is None or not text.strip():
            return text
        _, target = self._relations.get(attribute(link, f"{RELATIONSHIPS}id"), ("", ""))
        return markdown_link(text, target)

    def _frame(self, frame: Element) -> str:
        for table in frame.iter(f"{A}tbl"):
            rows = [[self._cell(cell) for cell in row.iterchildren(f"{A}tc")] for row in table.iterchildren(f"{A}tr")]
            return markdown(rows)
        for shown in frame.iter(CHART, DIAGRAM):
            return drawn(shown, self._package, self._relations)
        return ""

    def _cell(self, cell: Element) -> str:
        body = cell.find(f"{A}txBody")
        if body is not None:
            return self._paragraphs(body)
        return ""

    def _notes(self) -> Iterator[str]:
        for tree in self._parts("notesSlide"):
            yield from (f"[notes] {text}" for shape in tree.iter(_SHAPE) if (text := self._text_of(shape)))

    def _comments(self) -> Iterator[str]:
        for tree in self._parts("comments"):
            for comment in tree.iter():
                if comment.tag.endswith("}cm") or comment.tag.endswith("}reply"):
                    plain = comment.find(f"{P}text")
                    own = next((child for child in comment.iterchildren() if child.tag.endswith("}txBody")), None)
                    if plain is not None:
                        text = plain.text or ""
                    elif own is not None:
                        text = self._paragraphs(own)
                    else:
                        text = ""
                    author = self._authors.get(attribute(comment, "authorId"), "")
                    yield f"[comment] {with_author(author, text)}"

    def _parts(self, kind: str) -> Iterator[Element]:
        """Yield the parts of one kind that the slide refers to."""
        for of, target in self._relations.values():
            if of == kind and (tree := self._package.tree(target)) is not None:
                yield tree


def _formatted(run: Element, text: str) -> str:
    """Return the text of a run with superscripts and strikethrough."""
    about = run.find(f"{A}rPr")
    if about is None:
        return text
    if attribute(about, "baseline") not in ("", "0") and not attribute(about, "baseline").startswith("-"):
        text = superscript(text)
    if attribute(about, "strike") in ("sngStrike", "dblStrike"):
        return struck_through(text)
    return text


def _is_hidden(shape: Element) -> bool:
    """Return whether a shape is hidden on its slide."""
    return any(attribute(about.find(f"{P}cNvPr"), "hidden") == "1" for about in shape.iterchildren())


def _role(shape: Element) -> str:
    place = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if place is not None:
        return attribute(place, "type") or "body"
    return ""
