"""What do the sheets of a workbook say, as tables with every digit?"""

import datetime
import re
from collections.abc import Callable, Iterator
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
from gofer.files.extract.table import cell, rule

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
_BATCH = 4_096

Exact = dict[int, list[tuple[int, str]]]
"""For rows, counted from 0, the columns and texts of cells that say more than a float."""


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


def _sheet(name: str, hidden: str, sheet: CalamineSheet, room: _Room, exact: Exact) -> str:
    width, start = sheet.width, sheet.start
    marker = f'[sheet "{name}"{hidden}: {_counted(sheet.height, "row")} × {_counted(width, "column")}'
    if not width or start is None:
        return f'[sheet "{name}"{hidden}: empty]'
    where = f" from {_letters(start[1])}{start[0] + 1}" if start != (0, 0) else ""
    rows: list[str] = []
    read = sheet.iter_rows()
    done = 0
    while batch := list(islice(read, _BATCH)):
        if room.cells <= 0 or room.characters <= 0:
            rows.append(f"[{sheet.height - done:,} more rows are left out; ask for the file in parts]")
            break
        columns = [_column_texts(column) for column in zip(*batch, strict=True)]
        for at in range(len(batch)) if exact else ():
            for column, text in exact.get(start[0] + done + at, ()):
                columns[column - start[1]][at] = text
        lines = [f"| {said} |" for said in map(" | ".join, zip(*columns, strict=True))]
        done += len(batch)
        room.cells -= len(batch) * width
        room.characters -= sum(map(len, lines))
        # Without rows of bars and spaces only.
        rows += [said for said in lines if len(said) > 3 * width + 1]
    return "\n".join([f"{marker}{where}]", *rows[:1], rule(width), *rows[1:]])


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
        return f"{value:.0f}" if value else "0"
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
    for column, row, text in _EXACTLY.findall(raw):
        found.setdefault(int(row) - 1, []).append((_column(column), cell(text.decode("utf-8", "replace"))))
    return found


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
