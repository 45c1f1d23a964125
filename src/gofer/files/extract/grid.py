"""The recognition of tables on a page, by the positions of its pieces of text.

Pieces on one line with a large distance are cells. Lines with cells below each other are a table. Two columns of prose
are not a table.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gofer.files.extract.notation import markdown

_GAP = 0.9
"""The least distance between two cells, in heights of the text. Words of one cell are nearer."""

_PROSE = 22.0
"""The width, in heights of the text, above which a cell is rather a line of prose."""

_NEAR = 2.6
"""The largest distance between two lines of one table, in heights of the text."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text that the PDF draws at once. Vertical positions grow upwards."""

    left: float
    top: float
    right: float
    bottom: float
    read: Callable[[float, float, float, float], str]
    """Returns the text within left, bottom, right and top."""

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """The height, at least 1 even for a flat piece."""
        return max(self.top - self.bottom, 1.0)

    def text(self) -> str:
        """Return the text of the piece on one line."""
        text = self.read(self.left - 0.5, self.bottom - 0.5, self.right + 0.5, self.top + 0.5)
        return text.replace("\r\n", " ").strip("\r\n ")


Cell = list[Segment]
Row = list[Cell]


def with_tables(segments: Sequence[Segment]) -> str:
    """Return the text of a page from top to bottom, with tables as Markdown; empty if the page has no table."""
    lines = _lines(segments)
    if sum(len(line) > 1 for line in lines) < 2:
        return ""
    height = statistics.median(segment.height for segment in segments)
    rows = [_cells(line, height) for line in lines]
    tables = _tables(rows, height)
    if not tables:
        return ""
    inside = {at for begin, end, _ in tables for at in range(begin, end)}
    # Lines of prose side by side are columns, which are not read line by line across the page.
    if any(len(row) > 1 and max(map(_width, row)) > _PROSE * height for at, row in enumerate(rows) if at not in inside):
        return ""
    parts: list[str] = []
    at = 0
    for begin, end, columns in tables:
        parts += [" ".join(map(_cell_text, row)) for row in rows[at:begin]]
        parts += ["", markdown([_in_columns(row, columns) for row in rows[begin:end]]), ""]
        at = end
    parts += [" ".join(map(_cell_text, row)) for row in rows[at:]]
    return "\n".join(parts)


def _lines(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return the pieces of each line, from the top line down."""
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: -one.middle):
        last = lines[-1][0] if lines else None
        if last is not None and last.middle - segment.middle < 0.6 * min(last.height, segment.height) + 1:
            lines[-1].append(segment)
        else:
            lines.append([segment])
    return [sorted(line, key=lambda one: one.left) for line in lines]


def _cells(line: list[Segment], height: float) -> Row:
    cells: Row = []
    for segment in line:
        if cells and segment.left - cells[-1][-1].right < _GAP * height:
            cells[-1].append(segment)
        else:
            cells.append([segment])
    return cells


def _tables(rows: list[Row], height: float) -> list[tuple[int, int, list[tuple[float, float]]]]:
    """Return the first row, the end and the columns of each table."""
    found: list[tuple[int, int, list[tuple[float, float]]]] = []
    begin = 0
    while begin < len(rows):
        end = begin
        while end < len(rows) and len(rows[end]) > 1 and (end == begin or _near(rows[end - 1], rows[end], height)):
            end += 1
        columns = _columns(rows[begin:end])
        if _is_table(rows[begin:end], columns, height):
            found.append((begin, end, columns))
        begin = max(end, begin + 1)
    return found


def _near(above: Row, below: Row, height: float) -> bool:
    return above[0][0].middle - below[0][0].middle < _NEAR * height + 4


def _columns(rows: list[Row]) -> list[tuple[float, float]]:
    """Return the left and right edges of the columns of cells."""
    spans = sorted((cell[0].left, cell[-1].right) for row in rows for cell in row)
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _is_table(rows: list[Row], columns: list[tuple[float, float]], height: float) -> bool:
    if len(columns) < 2 or len(rows) < (2 if len(columns) > 2 else 3):
        return False
    widths = [_width(cell) for row in rows for cell in row]
    filled = len(widths) / (len(rows) * len(columns))
    return statistics.median(widths) < _PROSE / 2 * height and filled > 0.5


def _width(cell: Cell) -> float:
    return cell[-1].right - cell[0].left


def _cell_text(cell: Cell) -> str:
    return " ".join(text for segment in cell if (text := segment.text()))


def _in_columns(row: Row, columns: list[tuple[float, float]]) -> list[str]:
    texts = [""] * len(columns)
    for cell in row:
        for at, (left, right) in enumerate(columns):
            if left <= cell[0].left <= right:
                texts[at] = f"{texts[at]} {_cell_text(cell)}".strip()
                break
    return texts
