"""What does a table of separated values say, whatever separates them?"""

import csv
from collections import Counter, deque
from io import StringIO
from itertools import islice

from gofer.files.extract.plain import text_of, tidy
from gofer.files.extract.table import cell, line, rule

_SEPARATORS = ",;\t|"
_LOOKED_AT = 50
_LONGEST_FIELD = 10_000_000
_WIDEST = 1_000


def read(data: bytes) -> str:
    """A Markdown table under a marker; the text as it is when it is no table after all. Raises ToolError."""
    text = tidy(text_of(data).text)
    separator = _separator(text)
    if not separator:
        return text
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = [row for row in csv.reader(StringIO(text), delimiter=separator) if any(row)]
    except csv.Error:
        return text
    width = max(map(len, rows), default=0)
    if not 0 < width <= _WIDEST:
        return text
    named = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}[separator]
    lines = [line([*map(cell, row), *[""] * (width - len(row))]) for row in rows]
    marker = f"[table: {len(rows):,} rows × {width:,} columns, separated by {named}]"
    return "\n".join([marker, lines[0], rule(width), *lines[1:]])


def _separator(text: str) -> str:
    """The one that quotes agree with, that cuts the most lines, and the most of them alike.

    Empty when none cuts more than half of them.
    """
    lines = list(islice(StringIO(text), _LOOKED_AT))
    sample = "".join(lines)
    best, most = "", (False, 0.5, -1.0, 0.0, 0)
    for separator in _SEPARATORS:
        if separator not in sample:
            continue
        try:
            rows = [row for row in csv.reader(StringIO(sample), delimiter=separator) if row]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        # Rows that are cut at all, then rows that are cut alike: some end before their last, empty, fields.
        cut = 1 - widths[1] / max(1, widths.total())
        alike = max(widths.values(), default=0) / max(1, widths.total())
        # A wrong separator leaves quotes in the fields, and swallows lines between them.
        clean = -sum('"' in field for row in rows for field in row) / max(1, sum(map(len, rows)))
        score = (_well_formed(sample, separator, len(lines)), cut, clean, alike, len(rows))
        if cut > 0.5 and score > most:
            best, most = separator, score
    return best


def _well_formed(sample: str, separator: str, lines: int) -> bool:
    """Whether each field in quotes ends where the separator says; the last may go on behind the sample."""
    reader = csv.reader(StringIO(sample), delimiter=separator, strict=True)
    try:
        deque(reader, maxlen=0)
    except csv.Error:
        return reader.line_num >= lines
    return True
