"""What do the sheets of a workbook say, as tables with every digit?"""

import datetime
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import cast

import re2
from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetVisibleEnum,
)

from gofer.errors import ToolError
from gofer.files.extract.package import RELATIONSHIPS, Package, attribute
from gofer.files.extract.table import cell, line, rule

CELLS = 1_000_000
"""Cells that are written at most."""

CHARACTERS = 20_000_000
"""Characters that are written at most."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_WHOLE = 1e21
# What a reader of numbers loses: errors, and whole numbers of more digits than a float has.
_EXACTLY = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,60}>(?:<f[^<]{0,2000}</f>)?<v>(#[A-Z][^<]{1,20}|-?[0-9]{16,400})</v>'
)
_SUSPECT = re2.compile(rb"<v>(?:#|-?[0-9]{16})", re2.Options())
_PART = 64 << 20


def read(data: bytes) -> str:
    """Each sheet under a marker, as a Markdown table; dates in ISO form. Raises ToolError."""
    package = None
    if data.startswith(b"PK"):
        package = Package(data)
    parts_of = dict(_parts(package)) if package is not None else {}
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            parts: list[str] = []
            room = _Room()
            for sheet in workbook.sheets_metadata:
                hidden = "" if sheet.visible == SheetVisibleEnum.Visible else ", hidden"
                exact = _exact(package, parts_of.get(sheet.name, "")) if package is not None else {}
                parts.append(_sheet(sheet.name, hidden, workbook.get_sheet_by_name(sheet.name), room, exact))
    except PasswordError as error:
        raise ToolError("The workbook has a password; ask for it without one.", code="encrypted") from error
    except CalamineError as error:
        raise ToolError("The workbook is damaged and cannot be read; ask for it to be sent again.") from error
    if package is not None and (comments := list(_comments(package))):
        parts.append("\n".join(comments))
    return "\n\n".join(parts)


class _Room:
    """How much may still be written."""

    def __init__(self) -> None:
        self.cells, self.characters = CELLS, CHARACTERS

    @property
    def left(self) -> bool:
        return self.cells > 0 and self.characters > 0


def _sheet(name: str, hidden: str, sheet: CalamineSheet, room: _Room, exact: dict[tuple[int, int], str]) -> str:
    width, start = sheet.width, sheet.start
    marker = f'[sheet "{name}"{hidden}: {_counted(sheet.height, "row")} × {_counted(width, "column")}'
    if not width or start is None:
        return f'[sheet "{name}"{hidden}: empty]'
    where = f" from {_letters(start[1])}{start[0] + 1}" if start != (0, 0) else ""
    rows: list[str] = []
    count = 0
    for count, row in enumerate(sheet.iter_rows(), 1):
        if not room.left:
            rows.append(f"[{sheet.height - count + 1:,} more rows are left out; ask for the file in parts]")
            break
        texts = [_SAY[type(value)](value) for value in row]
        if exact:
            for at in range(width):
                texts[at] = exact.get((start[0] + count - 1, start[1] + at), texts[at])
        said = line(texts)
        room.cells -= width
        room.characters -= len(said)
        # A row of bars and spaces only.
        if len(said) > 3 * width + 1:
            rows.append(said)
            if len(rows) == 1:
                rows.append(rule(width))
    return "\n".join([f"{marker}{where}]", *rows])


def _number(value: object) -> str:
    number = cast(float, value)
    # Up to here spreadsheets write whole numbers without an exponent.
    if number.is_integer() and abs(number) < _WHOLE:
        return str(int(number))
    return repr(number)


def _date(value: object) -> str:
    moment = cast(datetime.datetime, value)
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ", timespec="auto")


def _plain(value: object) -> str:
    return str(value)


_SAY: dict[type, Callable[[object], str]] = {
    str: cast(Callable[[object], str], cell),
    float: _number,
    int: _plain,
    bool: lambda value: "TRUE" if value else "FALSE",
    datetime.datetime: _date,
    datetime.date: _plain,
    datetime.time: _plain,
    datetime.timedelta: _plain,
}


def _parts(package: Package) -> Iterator[tuple[str, str]]:
    """The name of each sheet and of the part it stands in."""
    tree, relations = package.tree("xl/workbook.xml"), package.relations("xl/workbook.xml")
    for sheet in tree.iter(f"{_MAIN}sheet") if tree is not None else ():
        yield attribute(sheet, "name"), relations.get(attribute(sheet, f"{RELATIONSHIPS}id"), ("", ""))[1]


def _exact(package: Package, name: str) -> dict[tuple[int, int], str]:
    """Cells whose text a float does not hold, by row and column from 0."""
    raw = package.read(name) if name else b""
    if len(raw) > _PART or not _SUSPECT.search(raw, 0, len(raw)):
        return {}
    return {
        (int(row) - 1, _column(column)): cell(text.decode("utf-8", "replace"))
        for column, row, text in _EXACTLY.findall(raw)
    }


def _column(letters: bytes) -> int:
    at = 0
    for letter in letters:
        at = at * 26 + letter - ord("A") + 1
    return at - 1


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _letters(column: int) -> str:
    """A column as spreadsheets call it: 0 is A, 26 is AA."""
    said = ""
    while column >= 0:
        said = chr(ord("A") + column % 26) + said
        column = column // 26 - 1
    return said


def _comments(package: Package) -> Iterator[str]:
    for name in package.names("xl/comments"):
        tree = package.tree(name)
        if tree is None:
            continue
        authors = ["".join(author.itertext()) for author in tree.iter(f"{_MAIN}author")]
        for comment in tree.iter(f"{_MAIN}comment"):
            number = attribute(comment, "authorId")
            author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
            text = "".join(comment.itertext(f"{_MAIN}t")).strip()
            yield f"[comment at {attribute(comment, 'ref')}] {author + ': ' if author else ''}{text}"
