"""A text that is too long, cut between two lines; a table of separated values cut by rows."""

import re
from collections.abc import Sequence
from itertools import accumulate

from gofer.errors import ToolError
from gofer.files.completeness import AS_ASKED, Reading, numbered
from gofer.journal.workspace import Missing

_TABLE = re.compile(r"\[table: [\d,]+ rows? × ")
_HEAD = 3
"""Lines before the second row of a table: its marker, its first row, the rule."""


def rows_from(text: str, first: int, most: int, instead: str) -> Reading:
    """Return a table from row `first` on, below its first row, or any other text; about `most` characters of it.

    `instead` says what to do about the end of a text that is no table. Rows count from 1, the head included. Raises
    ToolError for a row that is not there.
    """
    if _TABLE.match(text):
        if first > 1 or len(text) > most:
            return _table(text.split("\n"), first, most)
        return Reading(text)
    if first > 1:
        raise ToolError("This is no table, so it has no first_row; leave that out.", code="no_part")
    if len(text) > most:
        return _cut(text, most, instead)
    return Reading(text)


def _table(lines: Sequence[str], first: int, most: int) -> Reading:
    rows = lines[_HEAD:]
    count = len(rows) + 1
    if first > count:
        raise ToolError(f"The table has {count:,} rows; there is no row {first:,}.", code="no_row")
    begin = max(first, 2) - 2
    kept = rows[begin : begin + _fitting(rows[begin:], most)]
    last = begin + len(kept) + 1
    missing: list[Missing] = []
    if begin:
        missing.append(
            Missing("rows", part=numbered("row", range(2, begin + 2)), why=AS_ASKED, tool="extract_file", arguments={})
        )
    rest = list[str]()
    if last < count:
        part = numbered("row", range(last + 1, count + 1))
        why = f"one text holds about {most:,} characters"
        missing.append(Missing("rows", part=part, why=why, tool="extract_file", arguments={"first_row": last + 1}))
        rest.append(f"[{part} missing here]")
    return Reading("\n".join([*lines[:_HEAD], *kept, *rest]), tuple(missing))


def _fitting(lines: Sequence[str], most: int) -> int:
    """Return how many lines, one at least, have at most so many characters together."""
    sizes = accumulate(len(line) + 1 for line in lines)
    return max(1, sum(size <= most for size in sizes))


def _cut(text: str, most: int, instead: str) -> Reading:
    """Return the beginning of a text, up to the end of a line where there is one."""
    end = text.rfind("\n", 0, most) + 1 or most
    part = f"the last {len(text) - end:,} of {len(text):,} characters"
    why = f"one text holds about {most:,} characters"
    gap = Missing("bytes", part, why, instead=instead)
    return Reading(f"{text[:end]}[the rest is missing here: {len(text) - end:,} characters]", (gap,))
