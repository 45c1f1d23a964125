"""The table of one sheet while it grows, and the room that all tables of a workbook share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gofer.files.completeness import AS_ASKED, numbered
from gofer.files.extract.notation import rule
from gofer.files.extract.sheet_notes import letters
from gofer.values.missing import Missing

CELLS = 1_000_000
"""Cells that are written at most."""

CHARACTERS = 20_000_000
"""Characters that are written at most."""

FULL = f"one text holds about {CELLS:,} cells and {CHARACTERS:,} characters"
"""Why a text lacks rows and sheets behind a place."""


class Room:
    """How much may still be written."""

    def __init__(self) -> None:
        self._cells = CELLS
        self._characters = CHARACTERS

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be written."""
        return self._cells <= 0 or self._characters <= 0

    def take(self, cells: int, characters: int) -> None:
        """Count what was written."""
        self._cells -= cells
        self._characters -= characters


@dataclass(frozen=True, slots=True)
class Area:
    """The place of the cells of a sheet, counted from 0; `bottom` and `right` stand behind the last."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.right - self.left


class Table:
    """The table of one sheet while it grows."""

    def __init__(self, area: Area, first: int) -> None:
        self.first = first
        """The first row that is asked for, counted from 0."""
        self.done = first
        """The row behind the last that was read."""
        self._area = area
        self._head: list[str] = []
        self._rows: list[str] = []

    def add(self, lines: Sequence[str], at: int) -> None:
        """Add rows, the first of which is row `at`."""
        bare = 3 * self._area.width + 1
        if at == self._area.top:
            self._head = list(lines[:1])
        wanted = lines[max(0, max(self.first, self._area.top + 1) - at) :]
        # Without rows of bars and spaces only.
        self._rows += [said for said in wanted if len(said) > bare]
        self.done = max(self.done, at + len(lines))

    def end(self) -> None:
        """Say that no row is left."""
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
        """Yield which rows of the sheet are missing."""
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
    """Return rows counted from 0, `stop` not included, as people count them."""
    return numbered("row", range(first + 1, stop + 1))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
