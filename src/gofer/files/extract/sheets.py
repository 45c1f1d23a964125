"""What do the sheets of a workbook say, as tables with every digit?"""

import datetime
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import cast

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetVisibleEnum,
)

from gofer.errors import ToolError
from gofer.files.extract.package import Package, attribute, opened
from gofer.files.extract.table import cell, line, rule

CELLS = 1_000_000
"""Cells that are written at most."""

CHARACTERS = 20_000_000
"""Characters that are written at most."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_EXACT = 2**53


def read(data: bytes) -> str:
    """Each sheet under a marker, as a Markdown table; dates in ISO form. Raises ToolError."""
    package = None
    if data.startswith(b"PK"):
        opened(data)
        package = Package(data)
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            parts: list[str] = []
            room = _Room()
            for sheet in workbook.sheets_metadata:
                hidden = "" if sheet.visible == SheetVisibleEnum.Visible else ", hidden"
                parts.append(_sheet(sheet.name, hidden, workbook.get_sheet_by_name(sheet.name), room))
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


def _sheet(name: str, hidden: str, sheet: CalamineSheet, room: _Room) -> str:
    width, start = sheet.width, sheet.start
    marker = f'[sheet "{name}"{hidden}: {sheet.height:,} rows × {width:,} columns'
    if not width or start is None:
        return f'[sheet "{name}"{hidden}: empty]'
    where = f" from {_letters(start[1])}{start[0] + 1}" if start != (0, 0) else ""
    rows: list[str] = []
    count = 0
    for count, row in enumerate(sheet.iter_rows(), 1):
        if not room.left:
            rows.append(f"[{sheet.height - count + 1:,} more rows are left out; ask for the file in parts]")
            break
        said = line([_SAY[type(value)](value) for value in row])
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
    if number.is_integer() and abs(number) < _EXACT:
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
