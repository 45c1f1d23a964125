"""The reader of separated values with any separator, and the shortening of long tables and texts."""

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

from gofer.files.completeness import ALL, AS_ASKED, Reading, Wanted, numbered
from gofer.files.extract.notation import cell, line, rule
from gofer.files.extract.plain import text_of, tidy
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

CHARACTERS = 20_000_000
"""The most characters of one text."""


def text_from(text: str, first: int, instead: str) -> Reading:
    """Return the beginning of a text that is not a table. `instead` is the advice for its missing end.

    Raises ToolError if the call asks for a row.
    """
    if first > 1:
        raise ToolError("This is not a table, so it has no first_row; leave that out.", code="no_part")
    if len(text) > CHARACTERS:
        return _cut(text, CHARACTERS, instead)
    return Reading(text)


def rows_from(head: Sequence[str], rows: Iterable[str], count: int, first: int) -> Reading:
    """Return the head and the following rows from row `first` on, as many as fit.

    The head is row 1 of `count` rows. Raises ToolError if the table has no row `first`.
    """
    if first > count:
        raise ToolError(f"The table has {count:,} rows; there is no row {first:,}.", code="no_row")
    begin = max(first, 2) - 2
    kept = _fitting(islice(rows, begin, None), CHARACTERS)
    last = begin + len(kept) + 1
    missing: list[Missing] = []
    if begin:
        missing.append(
            Missing(
                "rows", part=numbered("row", range(2, begin + 2)), reason=AS_ASKED, tool="extract_file", arguments={}
            )
        )
    rest = list[str]()
    if last < count:
        part = numbered("row", range(last + 1, count + 1))
        reason = f"one text holds about {CHARACTERS:,} characters"
        missing.append(
            Missing("rows", part=part, reason=reason, tool="extract_file", arguments={"first_row": last + 1})
        )
        rest.append(f"[{part} missing here]")
    return Reading("\n".join([*head, *kept, *rest]), tuple(missing))


def _fitting(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines with at most `most` characters together, and at least one line."""
    kept: list[str] = []
    size = 0
    for one in lines:
        size += len(one) + 1
        if kept and size > most:
            break
        kept.append(one)
    return kept


def _cut(text: str, most: int, instead: str) -> Reading:
    """Return the beginning of a text, up to the end of a line if possible."""
    end = text.rfind("\n", 0, most) + 1 or most
    part = f"the last {len(text) - end:,} of {len(text):,} characters"
    reason = f"one text holds about {most:,} characters"
    gap = Missing("bytes", part, reason, instead=instead)
    return Reading(f"{text[:end]}[the rest is missing here: {len(text) - end:,} characters]", (gap,))


_SEPARATORS = ",;\t|"
_LOOKED_AT = 50
_LONGEST_FIELD = 10_000_000
_WIDEST = 1_000
_INSTEAD = "ask for the document in smaller parts"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def read(data: bytes, wanted: Wanted = ALL) -> Reading:
    """Return a Markdown table under a marker, or the unchanged text if it is not a table. Raises ToolError.

    The rows are counted first, and only requested rows are kept, so that a table of any length takes little memory.
    """
    text = tidy(text_of(data).text)
    separator = _separator(text)
    if not separator:
        return text_from(text, wanted.first_row, _INSTEAD)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        widths = Counter(map(len, _rows(text, separator)))
    except csv.Error:
        return text_from(text, wanted.first_row, _INSTEAD)
    width = max(widths, default=0)
    if not 0 < width <= _WIDEST:
        return text_from(text, wanted.first_row, _INSTEAD)
    named = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}[separator]
    lines = (line([*map(cell, row), *[""] * (width - len(row))]) for row in _rows(text, separator))
    marker = f"[table: {widths.total():,} rows × {width:,} columns, separated by {named}]"
    return rows_from([marker, next(lines), rule(width)], lines, widths.total(), wanted.first_row)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the rows that are not empty."""
    return (row for row in csv.reader(_lines(text), delimiter=separator) if any(row))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their ends, without a second copy of the text."""
    return (found[0] for found in _LINE.finditer(text))


def _separator(text: str) -> str:
    """Return the separator that agrees with the quotes, divides the most lines, and most of them into equal widths.

    Empty if no separator divides more than half of the lines.
    """
    lines = list(islice(_lines(text), _LOOKED_AT))
    sample = "".join(lines)
    best = ""
    most = (False, 0.5, -1.0, 0.0, 0)
    for separator in _SEPARATORS:
        if separator not in sample:
            continue
        try:
            rows = [row for row in csv.reader(StringIO(sample), delimiter=separator) if row]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        # The share of divided rows, then of rows with equal widths: some rows omit their last, empty fields.
        cut = 1 - widths[1] / max(1, widths.total())
        alike = max(widths.values(), default=0) / max(1, widths.total())
        # A wrong separator leaves quotes in the fields and merges lines between quotes.
        clean = -sum('"' in field for row in rows for field in row) / max(1, sum(map(len, rows)))
        score = (_well_formed(sample, separator, len(lines)), cut, clean, alike, len(rows))
        if cut > 0.5 and score > most:
            best = separator
            most = score
    return best


def _well_formed(sample: str, separator: str, lines: int) -> bool:
    """Return whether each quoted field ends at a separator. The last field may continue beyond the sample."""
    reader = csv.reader(StringIO(sample), delimiter=separator, strict=True)
    try:
        deque(reader, maxlen=0)
    except csv.Error:
        return reader.line_num >= lines
    return True
