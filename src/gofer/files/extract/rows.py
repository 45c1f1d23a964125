"""A text that is too long, cut between two lines; a table of separated values cut by rows."""

from collections.abc import Iterable, Sequence
from itertools import islice

from gofer.files.completeness import AS_ASKED, Reading, numbered
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

CHARACTERS = 20_000_000
"""Characters of text that are kept at most."""


def text_from(text: str, first: int, instead: str) -> Reading:
    """Return the beginning of a text that is no table; `instead` says what to do about its end.

    Raises ToolError where a row is asked for.
    """
    if first > 1:
        raise ToolError("This is no table, so it has no first_row; leave that out.", code="no_part")
    if len(text) > CHARACTERS:
        return _cut(text, CHARACTERS, instead)
    return Reading(text)


def rows_from(head: Sequence[str], rows: Iterable[str], count: int, first: int) -> Reading:
    """Return the lines of a head and those rows below it that fit, from row `first` on.

    The head is row 1 of `count` rows. Raises ToolError for a row that is not there.
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
        why = f"one text holds about {CHARACTERS:,} characters"
        missing.append(Missing("rows", part=part, reason=why, tool="extract_file", arguments={"first_row": last + 1}))
        rest.append(f"[{part} missing here]")
    return Reading("\n".join([*head, *kept, *rest]), tuple(missing))


def _fitting(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines, one at least, that have at most so many characters together."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if kept and size > most:
            break
        kept.append(line)
    return kept


def _cut(text: str, most: int, instead: str) -> Reading:
    """Return the beginning of a text, up to the end of a line where there is one."""
    end = text.rfind("\n", 0, most) + 1 or most
    part = f"the last {len(text) - end:,} of {len(text):,} characters"
    why = f"one text holds about {most:,} characters"
    gap = Missing("bytes", part, why, instead=instead)
    return Reading(f"{text[:end]}[the rest is missing here: {len(text) - end:,} characters]", (gap,))
