"""What do the sheets of a workbook say, as tables with every digit?"""

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import unescape
from io import BytesIO
from itertools import islice
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
from gofer.files.extract.sheet_notes import letters, notes, open_notes
from gofer.files.extract.table import cell, rule

CELLS = 1_000_000
"""Cells that are written at most."""

CHARACTERS = 20_000_000
"""Characters that are written at most."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_WHOLE = 1e21
# What a reader of numbers loses: errors, and whole numbers of more digits than a float has.
_EXACTLY = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,60}>'
    rb"(?:<f[^<]{0,2000}</f>)?<v>(#[A-Z][^<]{1,20}|-?[0-9]{16,400})</v>"
)
# What was never computed: programs that write workbooks leave that to Excel.
_FORMULA = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,60}><f(?:[ ][^<>]{0,200})?>([^<]{1,2000})</f>(?:<v></v>|<v/>)?</c>'
)
_SUSPECT = re2.compile(rb"<v>(?:#|-?[0-9]{16})|</f>(?:</c>|<v/>|<v></v>)", re2.Options())
_PART = 64 << 20
_BATCH = 4_096

Exact = dict[int, list[tuple[int, str]]]
"""For rows, counted from 0, the columns and texts of cells that say more than a float."""


def read(data: bytes) -> str:
    """Each sheet under a marker, as a Markdown table; dates in ISO form. Raises ToolError."""
    package = None
    if data.startswith(b"PK"):
        package = Package(data)
    parts_of = dict(_parts(package)) if package is not None else {}
    commented = open_notes(package) if package is not None else {}
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            parts: list[str] = []
            room = _Room()
            for sheet in workbook.sheets_metadata:
                hidden = "" if sheet.visible == SheetVisibleEnum.Visible else ", hidden"
                part = parts_of.get(sheet.name, "")
                exact = _exact(package, part) if package is not None else {}
                parts.append(_sheet(sheet.name, hidden, workbook.get_sheet_by_name(sheet.name), room, exact))
                beside = notes(package, part) if package is not None and part else commented.get(sheet.name, ())
                parts += filter(None, ["\n".join(beside)])
    except PasswordError as error:
        raise ToolError("The workbook has a password; ask for it without one.", code="encrypted") from error
    except CalamineError as error:
        raise ToolError("The workbook is damaged and cannot be read; ask for it to be sent again.") from error
    return "\n\n".join(parts)


class _Room:
    """How much may still be written."""

    def __init__(self) -> None:
        self.cells, self.characters = CELLS, CHARACTERS


@dataclass(frozen=True, slots=True)
class _Area:
    """Where the cells of a sheet lie; rows and columns are counted from 0, `bottom` and `right` are behind the last."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def width(self) -> int:
        return self.right - self.left


def _sheet(name: str, hidden: str, sheet: CalamineSheet, room: _Room, exact: Exact) -> str:
    area = _area(sheet, exact)
    if area is None:
        return f'[sheet "{name}"{hidden}: empty]'
    size = f"{_counted(area.bottom - area.top, 'row')} × {_counted(area.width, 'column')}"
    where = f" from {letters(area.left)}{area.top + 1}" if (area.top, area.left) != (0, 0) else ""
    rows: list[str] = []
    done, bare = area.top, 3 * area.width + 1
    for batch, first in _batches(sheet, exact):
        if room.cells <= 0 or room.characters <= 0:
            rows.append(f"[{area.bottom - done:,} more rows are left out; ask for the file in parts]")
            break
        lines = _lines(batch, first, sheet, area, exact)
        done = first + len(batch)
        room.cells -= len(batch) * area.width
        room.characters -= sum(map(len, lines))
        # Without rows of bars and spaces only.
        rows += [said for said in lines if len(said) > bare]
    return "\n".join([f'[sheet "{name}"{hidden}: {size}{where}]', *rows[:1], rule(area.width), *rows[1:]])


def _area(sheet: CalamineSheet, exact: Exact) -> _Area | None:
    """With cells that hold a formula and no value, which a reader of values does not count."""
    rows, columns = set(exact), {column for cells in exact.values() for column, _ in cells}
    if sheet.start is not None and sheet.width:
        rows |= {sheet.start[0], sheet.start[0] + sheet.height - 1}
        columns |= {sheet.start[1], sheet.start[1] + sheet.width - 1}
    return _Area(min(rows), min(columns), max(rows) + 1, max(columns) + 1) if rows else None


def _batches(sheet: CalamineSheet, exact: Exact) -> Iterator[tuple[Sequence[Sequence[object]], int]]:
    """Rows of values with the number of the first; rows without any, one by one, where a formula stands in them."""
    begin = sheet.start[0] if sheet.start is not None else 0
    end = begin + sheet.height if sheet.start is not None else 0
    for row in sorted(row for row in exact if row < begin):
        yield [[]], row
    # It gives columns from the first that is used, but rows from the top of the sheet.
    read, done = islice(sheet.iter_rows(), begin, None), begin
    while batch := list(islice(read, _BATCH)):
        yield batch, done
        done += len(batch)
    for row in sorted(row for row in exact if row >= end):
        yield [[]], row


def _lines(batch: Sequence[Sequence[object]], first: int, sheet: CalamineSheet, area: _Area, exact: Exact) -> list[str]:
    columns = [_column_texts(column) for column in zip(*batch, strict=True)]
    if exact:
        left = (sheet.start[1] if sheet.start is not None and columns else area.left) - area.left
        columns = [[""] * len(batch) for _ in range(left)] + columns
        columns += [[""] * len(batch) for _ in range(area.width - len(columns))]
        for at in range(len(batch)):
            for column, text in exact.get(first + at, ()):
                columns[column - area.left][at] = text
    return [f"| {said} |" for said in map(" | ".join, zip(*columns, strict=True))]


def _column_texts(column: tuple[object, ...]) -> list[str]:
    """The cells of a column as they are written; a column of one type all at once."""
    kinds = set(map(type, column))
    if kinds == {float}:
        joined = "\n".join(map(repr, column))
        if "e" not in joined:
            # A whole number has no point.
            return f"{joined}\n".replace(".0\n", "\n").split("\n")[:-1]
    if kinds == {str}:
        texts = cast(tuple[str, ...], column)
        joined = "\n".join(texts)
        if "|" not in joined and joined.count("\n") == len(texts) - 1:
            return list(map(str.strip, texts))
    return [_SAY[type(value)](value) for value in column]


def _number(value: float) -> str:
    # Up to here spreadsheets write whole numbers without an exponent.
    if value.is_integer() and -_WHOLE < value < _WHOLE:
        # Digits that nobody wrote are zeros.
        return f"{Decimal(repr(value)):.0f}" if value else "0"
    return repr(value)


def _truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _date(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ", timespec="auto")


_SAY = cast(
    dict[type, Callable[[object], str]],
    {
        str: cell,
        float: _number,
        int: str,
        bool: _truth,
        datetime.datetime: _date,
        datetime.date: str,
        datetime.time: str,
        datetime.timedelta: str,
    },
)


def _parts(package: Package) -> Iterator[tuple[str, str]]:
    """The name of each sheet and of the part it stands in."""
    tree, relations = package.tree("xl/workbook.xml"), package.relations("xl/workbook.xml")
    for sheet in tree.iter(f"{_MAIN}sheet") if tree is not None else ():
        yield attribute(sheet, "name"), relations.get(attribute(sheet, f"{RELATIONSHIPS}id"), ("", ""))[1]


def _exact(package: Package, name: str) -> Exact:
    """Cells whose text a float does not hold."""
    raw = package.read(name) if name else b""
    if len(raw) > _PART or not _SUSPECT.search(raw, 0, len(raw)):
        return {}
    found: Exact = {}
    for pattern, mark in ((_EXACTLY, ""), (_FORMULA, "=")):
        for column, row, text in pattern.findall(raw):
            said = f"{mark}{unescape(text.decode('utf-8', 'replace'))}"
            found.setdefault(int(row) - 1, []).append((_column(column), cell(said)))
    return found


def _column(letters: bytes) -> int:
    at = 0
    for letter in letters:
        at = at * 26 + letter - ord("A") + 1
    return at - 1


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
