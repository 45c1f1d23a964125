"""The reader of workbooks: each sheet as a table with every digit."""

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
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
    SheetMetadata,
    SheetVisibleEnum,
)

from gofer.files.completeness import AGAIN, ALL, AS_ASKED, Reading, Wanted, numbered
from gofer.files.extract.notation import cell
from gofer.files.extract.sheet_table import FULL, Area, Room, Table, letters, notes, open_notes
from gofer.files.extract.xml_package import RELATIONSHIPS, Package, attribute, every
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

_LISTED = 20
"""The most sheets that a sentence names."""
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_WHOLE = 1e21
# Cells that calamine does not preserve: errors, and whole numbers with more digits than a float.
_EXACT_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,60}>'
    rb"(?:<f[^<]{0,2000}</f>)?<v>(#[A-Z][^<]{1,20}|-?[0-9]{16,400})</v>"
)
# Formulas without a value: programs that generate workbooks leave the calculation to Excel.
_FORMULA = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,60}><f(?:[ ][^<>]{0,200})?>([^<]{1,2000})</f>(?:<v></v>|<v/>)?</c>'
)
_UNSEEN = re2.compile(rb"""<(?:row|col)(?:\s[^<>]*)?\shidden=["'](?:1|true)["'][^<>]*>""", re2.Options())
_PLACES = {name: re.compile(rb"""\s%s=["']([0-9]{1,7})["']""" % name) for name in (b"r", b"min", b"max")}
_SUSPECT = re2.compile(rb"<v>(?:#|-?[0-9]{16})|</f>(?:</c>|<v/>|<v></v>)", re2.Options())
_PART = 64 << 20
_BATCH = 4_096

Exact = dict[int, list[tuple[int, str]]]
"""The columns and texts of cells that a float cannot represent, by row, counted from 0."""


def read(data: bytes, wanted: Wanted = ALL) -> Reading:
    """Return each sheet under a marker, as a Markdown table; dates in ISO form. Raises ToolError."""
    package = None
    if data.startswith(b"PK"):
        package = Package(data)
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            return _Workbook(workbook, package, wanted).read()
    except PasswordError as error:
        raise ToolError("The workbook has a password; ask for it without one.", code="encrypted") from error
    except CalamineError as error:
        raise ToolError(
            "The workbook is damaged and cannot be read; ask for it to be sent again.", code="damaged"
        ) from error


class _Workbook:
    """The reading of one workbook."""

    def __init__(self, workbook: CalamineWorkbook, package: Package | None, wanted: Wanted) -> None:
        self._workbook = workbook
        self._package = package
        self._wanted = wanted
        self._parts: dict[str, str] = {}
        self._commented: dict[str, list[str]] = {}
        if package is not None:
            self._parts = dict(_parts(package))
            self._commented = open_notes(package)
        self._room = Room()
        self._missing: list[Missing] = []

    def read(self) -> Reading:
        texts: list[str] = []
        left_out: list[str] = []
        for sheet in self._chosen():
            if self._room.is_full:
                left_out.append(sheet.name)
            else:
                hidden = ", hidden" * (sheet.visible != SheetVisibleEnum.Visible)
                texts += self._sheet(sheet.name, hidden)
        if left_out:
            texts.append(f"[{_sheet_phrase(left_out)} missing here]")
            self._add_missing_sheets(left_out, FULL)
        return Reading("\n\n".join(texts), tuple(self._missing))

    def _chosen(self) -> Sequence[SheetMetadata]:
        """Return the requested sheets. Raises ToolError if the workbook does not have them."""
        sheets = self._workbook.sheets_metadata
        if not self._wanted.sheet:
            if self._wanted.first_row > 1 and len(sheets) > 1:
                message = f"first_row needs `sheet`, as the workbook has {_sheet_phrase(_names(sheets))}."
                raise ToolError(message, code="no_sheet")
            return sheets
        chosen = [sheet for sheet in sheets if sheet.name == self._wanted.sheet]
        if not chosen:
            message = f"The workbook has no sheet {self._wanted.sheet[:64]!r}; it has {_sheet_phrase(_names(sheets))}."
            raise ToolError(message, code="no_sheet")
        if others := [name for name in _names(sheets) if name != self._wanted.sheet]:
            self._add_missing_sheets(others, AS_ASKED)
        return chosen

    def _add_missing_sheets(self, names: Sequence[str], reason: str) -> None:
        instead = "and the other sheets in the same way" * (len(names) > 1)
        gap = Missing(
            "sheets",
            part=_sheet_phrase(names),
            reason=reason,
            tool="extract_file",
            arguments={"sheet": names[0]},
            instead=instead,
        )
        self._missing.append(gap)

    def _sheet(self, name: str, hidden: str) -> Iterator[str]:
        """Yield the table of a sheet, then its comments and text boxes."""
        part = self._parts.get(name, "")
        exact: Exact = {}
        if self._package is not None:
            exact = _exact_cells(self._package, part)
        try:
            sheet = self._workbook.get_sheet_by_name(name)
        except CalamineError:
            # Read the other sheets even if one is broken.
            self._missing.append(Missing("sheets", _sheet_phrase([name]), "it is damaged", instead=AGAIN))
            yield f'[sheet "{name}"{hidden}: damaged, and could not be read]'
            return
        yield self._table(name, hidden, sheet, exact)
        if self._package is not None:
            yield from _unseen(self._package, part)
        beside = self._commented.get(name, ())
        if self._package is not None and part:
            beside = notes(self._package, part)
        if said := "\n".join(beside):
            yield said

    def _table(self, name: str, hidden: str, sheet: CalamineSheet, exact: Exact) -> str:
        area = _area(sheet, exact)
        if area is None:
            return f'[sheet "{name}"{hidden}: empty]'
        table = Table(area, max(area.top, self._wanted.first_row - 1))
        if table.first >= area.bottom:
            message = f'The sheet "{name}" ends in row {area.bottom:,}; there is no row {self._wanted.first_row:,}.'
            raise ToolError(message, code="no_row")
        for batch, first in _batches(sheet, exact):
            if self._room.is_full:
                break
            if area.top < first and first + len(batch) <= table.first:
                continue
            lines = _lines(batch, first, sheet, area, exact)
            table.add(lines, first)
            self._room.take(len(batch) * area.width, sum(map(len, lines)))
        else:
            table.end()
        self._missing += table.missing(name)
        return table.text(name, hidden)


def _names(sheets: Sequence[SheetMetadata]) -> Sequence[str]:
    return [sheet.name for sheet in sheets]


def _sheet_phrase(names: Sequence[str]) -> str:
    """Return the names of sheets as a phrase."""
    listed = ", ".join(f'"{name}"' for name in names[:_LISTED])
    if len(names) == 1:
        return f"the sheet {listed}"
    if len(names) > _LISTED:
        return f"the sheets {listed} and {len(names) - _LISTED:,} more"
    return f"the sheets {listed}"


def _area(sheet: CalamineSheet, exact: Exact) -> Area | None:
    """Return the used area, including cells with a formula and no value, which calamine does not count."""
    rows = set(exact)
    columns = {column for cells in exact.values() for column, _ in cells}
    if sheet.start is not None and sheet.width:
        rows |= {sheet.start[0], sheet.start[0] + sheet.height - 1}
        columns |= {sheet.start[1], sheet.start[1] + sheet.width - 1}
    if rows:
        return Area(top=min(rows), left=min(columns), bottom=max(rows) + 1, right=max(columns) + 1)
    return None


def _batches(sheet: CalamineSheet, exact: Exact) -> Iterator[tuple[Sequence[Sequence[object]], int]]:
    """Yield batches of rows with the number of the first row. Rows with only formulas are separate, empty batches."""
    begin = 0
    end = 0
    if sheet.start is not None:
        begin = sheet.start[0]
        end = begin + sheet.height
    for row in sorted(row for row in exact if row < begin):
        yield [[]], row
    # calamine yields columns from the first used one, but rows from the top of the sheet.
    read = islice(sheet.iter_rows(), begin, None)
    done = begin
    while batch := list(islice(read, _BATCH)):
        yield batch, done
        done += len(batch)
    for row in sorted(row for row in exact if row >= end):
        yield [[]], row


def _lines(batch: Sequence[Sequence[object]], first: int, sheet: CalamineSheet, area: Area, exact: Exact) -> list[str]:
    columns = [_column_texts(column) for column in zip(*batch, strict=True)]
    if exact:
        if sheet.start is not None and columns:
            columns = [[""] * len(batch) for _ in range(sheet.start[1] - area.left)] + columns
        columns += [[""] * len(batch) for _ in range(area.width - len(columns))]
        for at in range(len(batch)):
            for column, text in exact.get(first + at, ()):
                columns[column - area.left][at] = text
    return [f"| {said} |" for said in map(" | ".join, zip(*columns, strict=True))]


def _column_texts(column: tuple[object, ...]) -> list[str]:
    """Return the texts of a column's cells. A column of a single type is converted at once, for speed."""
    kinds = set(map(type, column))
    if kinds == {float}:
        joined = "\n".join(map(repr, column))
        if "e" not in joined:
            # Write whole numbers without a decimal point.
            return f"{joined}\n".replace(".0\n", "\n").split("\n")[:-1]
    if kinds == {str}:
        texts = cast(tuple[str, ...], column)
        joined = "\n".join(texts)
        if "|" not in joined and joined.count("\n") == len(texts) - 1:
            return list(map(str.strip, texts))
    return [_TEXT_OF[type(value)](value) for value in column]


def _number(value: float) -> str:
    # Spreadsheets write whole numbers below this limit without an exponent.
    if value.is_integer() and -_WHOLE < value < _WHOLE:
        # The digits beyond those of the float are zeros.
        if value:
            return f"{Decimal(repr(value)):.0f}"
        return "0"
    return repr(value)


def _boolean(value: bool) -> str:
    if value:
        return "TRUE"
    return "FALSE"


def _date(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ", timespec="auto")


_TEXT_OF = cast(
    dict[type, Callable[[object], str]],
    {
        str: cell,
        float: _number,
        int: str,
        bool: _boolean,
        datetime.datetime: _date,
        datetime.date: str,
        datetime.time: str,
        datetime.timedelta: str,
    },
)


def _parts(package: Package) -> Iterator[tuple[str, str]]:
    """Yield the name of each sheet and the name of its part."""
    tree = package.tree("xl/workbook.xml")
    relations = package.relations("xl/workbook.xml")
    for sheet in every(tree, f"{_MAIN}sheet"):
        yield attribute(sheet, "name"), relations.get(attribute(sheet, f"{RELATIONSHIPS}id"), ("", ""))[1]


def _exact_cells(package: Package, name: str) -> Exact:
    """Return the cells that calamine does not preserve: long numbers, errors and formulas without a value."""
    raw = package.read(name)
    if len(raw) > _PART or not _SUSPECT.search(raw, 0, len(raw)):
        return {}
    found: Exact = {}
    for pattern, mark in ((_EXACT_CELL, ""), (_FORMULA, "=")):
        for column, row, text in pattern.findall(raw):
            cell_text = f"{mark}{unescape(text.decode('utf-8', 'replace'))}"
            found.setdefault(int(row) - 1, []).append((_column(column), cell(cell_text)))
    return found


def _unseen(package: Package, name: str) -> Iterator[str]:
    """Yield a line that names the hidden rows and columns of a sheet. Its table has their cells."""
    raw = package.read(name)
    if len(raw) > _PART or b"hidden=" not in raw:
        return
    rows: list[int] = []
    columns: list[str] = []
    for tag in _UNSEEN.findall(raw):
        row, first, last = (pattern.search(tag) for pattern in _PLACES.values())
        if row:
            rows.append(int(row[1]))
        elif first and last:
            columns.append(" to ".join(dict.fromkeys(letters(int(one[1]) - 1) for one in (first, last))))
    parts = [numbered("row", rows)] * bool(rows) + [f"columns {', '.join(columns[:_LISTED])}"] * bool(columns)
    if parts:
        yield f"[hidden: {' and '.join(parts)}]"


def _column(name: bytes) -> int:
    at = 0
    for letter in name:
        at = at * 26 + letter - ord("A") + 1
    return at - 1
