"""The table of one sheet, its comments and text boxes, and the limit that all tables of a workbook share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gofer.files.completeness import AS_ASKED, numbered
from gofer.files.extract.notation import integer, rule, with_author
from gofer.files.extract.xml_package import Element, Package, attribute, every, root
from gofer.values.missing import Missing

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TALK = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_SHAPE = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}sp"
_KINDS = ("comments", "threadedComment", "drawing")
_LARGEST = 32 << 20
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def notes(package: Package, sheet: str) -> Iterator[str]:
    """Yield a line for each comment and text box of a sheet. `sheet` is the name of the sheet's part."""
    parts = [
        (kind, tree)
        for kind, name in package.relations(sheet).values()
        if kind in _KINDS and (tree := package.tree(name)) is not None
    ]
    talks = [talk for kind, tree in parts if kind == "threadedComment" for talk in tree.iter(f"{_TALK}threadedComment")]
    threaded = {attribute(talk, "ref") for talk in talks}
    for kind, tree in parts:
        if kind == "comments":
            yield from _comments(tree, threaded)
    people: dict[str, str] = {}
    if talks:
        people = _people(package)
    for talk in talks:
        author = people.get(attribute(talk, "personId"), "")
        yield _line(attribute(talk, "ref"), author, "".join(talk.itertext(f"{_TALK}text")).strip())
    for kind, tree in parts:
        if kind == "drawing":
            yield from _boxes(tree)


def open_notes(package: Package) -> dict[str, list[str]]:
    """Return the comments of an OpenDocument spreadsheet, by the names of its sheets."""
    raw = package.read("content.xml")
    if b"annotation" not in raw or len(raw) > _LARGEST:
        return {}
    found: dict[str, list[str]] = {}
    for table in root(raw).iter(f"{_TABLE}table"):
        lines = found.setdefault(attribute(table, f"{_TABLE}name"), [])
        down = 0
        for line in table.iter(f"{_TABLE}table-row"):
            across = 0
            for cell in line.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                for comment in cell.iterchildren(f"{_OFFICE}annotation"):
                    author = "".join(comment.itertext(_CREATOR))
                    text = "\n".join("".join(one.itertext()) for one in comment.iterchildren(f"{_TEXT}p"))
                    lines.append(_line(f"{letters(across)}{down + 1}", author, text))
                across += _times(cell, "columns")
            down += _times(line, "rows")
    return found


def letters(column: int) -> str:
    """Return the letters of a column: 0 is A, 26 is AA."""
    name = ""
    while column >= 0:
        name = chr(ord("A") + column % 26) + name
        column = column // 26 - 1
    return name


def _times(element: Element, what: str) -> int:
    return integer(attribute(element, f"{_TABLE}number-{what}-repeated"), 1)


def _comments(tree: Element, threaded: set[str]) -> Iterator[str]:
    """Yield the comments, without those that only point older programs to a threaded conversation."""
    authors = ["".join(author.itertext()) for author in tree.iter(f"{_MAIN}author")]
    for comment in tree.iter(f"{_MAIN}comment"):
        number = integer(attribute(comment, "authorId"), len(authors))
        at = attribute(comment, "ref")
        author = ""
        if number < len(authors):
            author = authors[number]
        if at not in threaded:
            yield _line(at, author, "".join(comment.itertext(f"{_MAIN}t")).strip())


def _people(package: Package) -> dict[str, str]:
    people: dict[str, str] = {}
    for name in package.names("xl/persons/"):
        tree = package.tree(name)
        for person in every(tree, f"{_TALK}person"):
            people[attribute(person, "id")] = attribute(person, "displayName")
    return people


def _boxes(tree: Element) -> Iterator[str]:
    for shape in tree.iter(_SHAPE):
        lines = ["".join(line.itertext(f"{_A}t")).strip() for line in shape.iter(f"{_A}p")]
        if text := "\n".join(line for line in lines if line):
            yield f"[text box] {text}"


def _line(at: str, author: str, text: str) -> str:
    return f"[comment at {at}] {with_author(author, text)}"


CELLS = 1_000_000
"""The most cells of one text."""

CHARACTERS = 20_000_000
"""The most characters of one text."""

FULL = f"one text holds about {CELLS:,} cells and {CHARACTERS:,} characters"
"""The reason for missing rows and sheets after a certain place."""


class Room:
    """The cells and characters that a text may still take."""

    def __init__(self) -> None:
        self._cells = CELLS
        self._characters = CHARACTERS

    @property
    def is_full(self) -> bool:
        """Whether the text may take nothing more."""
        return self._cells <= 0 or self._characters <= 0

    def take(self, cells: int, characters: int) -> None:
        """Subtract the written cells and characters."""
        self._cells -= cells
        self._characters -= characters


@dataclass(frozen=True, slots=True)
class Area:
    """The used area of a sheet, counted from 0. `bottom` and `right` are exclusive."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.right - self.left


class Table:
    """The table of one sheet while it grows."""

    def __init__(self, area: Area, first: int) -> None:
        self.first = first
        """The first requested row, counted from 0."""
        self.done = first
        """The row after the last one that was read."""
        self._area = area
        self._head: list[str] = []
        self._rows: list[str] = []

    def add(self, lines: Sequence[str], at: int) -> None:
        """Add consecutive rows that begin with row `at`."""
        bare = 3 * self._area.width + 1
        if at == self._area.top:
            self._head = list(lines[:1])
        requested = lines[max(0, max(self.first, self._area.top + 1) - at) :]
        # Drop rows without any text, which have only bars and spaces.
        self._rows += [row for row in requested if len(row) > bare]
        self.done = max(self.done, at + len(lines))

    def end(self) -> None:
        """Record that every row was read."""
        self.done = self._area.bottom

    def text(self, name: str, hidden: str) -> str:
        """Return the sheet under its marker."""
        area = self._area
        size = f"{_counted(area.bottom - area.top, 'row')} × {_counted(area.width, 'column')}"
        where = ""
        if (area.top, area.left) != (0, 0):
            where = f" from {letters(area.left)}{area.top + 1}"
        marker = f'[sheet "{name}"{hidden}: {size}{where}{self._shown()}]'
        lines = [marker, *self._head, rule(area.width), *self._rows]
        if self.done < area.bottom:
            lines.append(f"[{_rows(self.done, area.bottom)} missing here]")
        return "\n".join(lines)

    def _shown(self) -> str:
        if self.first == self._area.top:
            return ""
        return f"; row {self._area.top + 1:,}, then {_rows(self.first, self.done)}"

    def missing(self, name: str) -> Iterator[Missing]:
        """Yield the missing rows of the sheet."""
        area = self._area
        if self.first > area.top + 1:
            part = f'{_rows(area.top + 1, self.first)} of the sheet "{name}"'
            yield Missing("rows", part=part, reason=AS_ASKED, tool="extract_file", arguments={"sheet": name})
        if self.done < area.bottom:
            part = f'{_rows(self.done, area.bottom)} of the sheet "{name}"'
            yield Missing(
                "rows",
                part=part,
                reason=FULL,
                tool="extract_file",
                arguments={"sheet": name, "first_row": self.done + 1},
            )


def _rows(first: int, stop: int) -> str:
    """Return a range of rows, counted from 0 and without `stop`, as people count them."""
    return numbered("row", range(first + 1, stop + 1))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
