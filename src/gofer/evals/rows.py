"""The rows of a case: one case for each line of a CSV file, with its cells in place of `{column}`.

A text of the case may have several columns. A value that is only one column becomes a number, `true` or `false` if its
cell is one, outside of deliveries and descriptions; `{column:text}` stays a text.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gofer.evals.references import is_usable
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import read_text
from gofer.workflows.mistake import Mistake, Place
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc, Source

MOST_ROWS = 200
"""The most cases that one file of rows makes."""
NAME = "name"
"""The column that names the cases."""
_COLUMN = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)(:text)?\}")
_NAMED = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_TEXTS = frozenset({"trigger", "then", "description", "name", "rows"})
"""The keys of a case below which each cell is a text."""

V = TypeVar("V")
Row = Mapping[str, str]


def base_name(case: str) -> str:
    """Return the name of the case as its file has it, without that of a row."""
    return case.partition("[")[0]


def with_rows(source: Source) -> tuple[Source, Sequence[Mistake]]:
    """Return an eval file with a case for each row, at the places of the case that has the rows, and the mistakes.

    A case stays as it is if its rows have a mistake.
    """
    cases = as_list(source.fields.get("cases"))
    if not any("rows" in as_object(case) for case in cases):
        return source, []
    mistakes: list[Mistake] = []
    made: list[_Made] = []
    for at, case in enumerate(cases):
        rows, wrong = _rows(source, at)
        mistakes += wrong
        mistakes += _unknown_columns(source, at, case, rows)
        made += [_Made(at, case, number, row) for number, row in enumerate(rows, 1)] or [_Made(at, case)]
    value = {**source.fields, "cases": [one.case() for one in made]}
    by_case = {at: [(number, one) for number, one in enumerate(made) if one.at == at] for at in range(len(cases))}

    def moved(places: Mapping[Loc, V]) -> dict[Loc, V]:
        found: dict[Loc, V] = {}
        for loc, place in places.items():
            if loc[:1] != ("cases",) or len(loc) == 1:
                found[loc] = place
                continue
            for number, one in by_case[int(loc[1])]:
                found["cases", number, *map(one.filled_key, loc[2:])] = place
        return found

    moved_source = replace(
        source, value=value, values=moved(source.values), keys=moved(source.keys), words=moved(source.words)
    )
    return moved_source, mistakes


@dataclass(frozen=True, slots=True)
class _Made:
    """One case of a file, with the row from which it is made."""

    at: int
    """The position of the case in the file."""
    written: object
    number: int = 0
    """The number of the row, from 1; 0 for a case without rows."""
    row: Row | None = None

    def case(self) -> object:
        """Return the case with the cells of the row."""
        if self.row is None:
            return self.written
        case = {
            self.filled_key(key): _filled(value, self.row, typed=key not in _TEXTS)
            for key, value in as_object(self.written).items()
        }
        named = self.row.get(NAME) or self.number
        return {**case, "name": f"{as_object(self.written).get('name')}[{named}]"}

    def filled_key(self, key: Any) -> Any:
        """Return a key, or a position in a list, with the cells of the row."""
        if self.row is None or not isinstance(key, str):
            return key
        return _filled_text(key, self.row)


def _rows(source: Source, at: int) -> tuple[Sequence[Row], Sequence[Mistake]]:
    """Return the rows of a case, and the mistakes in their file; none for a case without rows."""
    name = as_object(as_list(source.fields.get("cases"))[at]).get("rows")
    if not isinstance(name, str):
        return [], []
    folder = source.file.parent
    place = source.place(("cases", at, "rows"))
    if not is_usable(folder, name):
        message = f"There is no file `{name[:80]}` in {folder.name}/."
        return [], [Mistake(source.file, place, "missing-file", message, "Create it, or correct its path.")]
    text, wrong = read_text(folder / name)
    problem = "".join(one.message for one in wrong[:1] if text is None)
    rows: Sequence[Row] = ()
    if text is not None:
        rows, problem = _parsed(text)
    if not problem:
        return rows, []
    message = f"The rows of `{name[:80]}` cannot be played: {problem}"
    return [], [Mistake(source.file, place, "case-rows", message, "Correct the file; docs/evals.md describes it.")]


def _parsed(text: str) -> tuple[Sequence[Row], str]:
    """Return the rows of a CSV text, or what is wrong with it as the end of a sentence."""
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if line]
    except csv.Error as error:
        return [], f"the file is not CSV ({error})."
    if not lines:
        return [], "the file is empty."
    header = [column.strip() for column in lines[0]]
    odd = [column for column in header if not _COLUMN.fullmatch(f"{{{column}}}") or header.count(column) > 1]
    if odd:
        return [], f"the column {odd[0][:80]!r} has no name of its own of letters, digits, `_` and `-`."
    if len(lines) == 1:
        return [], "there is no row below the names of the columns."
    if len(lines) - 1 > MOST_ROWS:
        return [], f"there are {len(lines) - 1:,} rows, and at most {MOST_ROWS} are played."
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            return [], f"row {number} has {len(line)} cells, and there are {len(header)} columns."
    rows = [dict(zip(header, line, strict=True)) for line in lines[1:]]
    names = [row[NAME] for row in rows if NAME in row]
    for name in names:
        if not _NAMED.fullmatch(name) or names.count(name) > 1:
            return [], f"the name {name[:80]!r} is not one of its own of a-z, 0-9 and `-`."
    return rows, ""


def _unknown_columns(source: Source, at: int, case: object, rows: Sequence[Row]) -> Iterator[Mistake]:
    for row in rows[:1]:
        for place, text in _texts(source, case, ("cases", at)):
            for unknown in [found[1] for found in _COLUMN.finditer(text) if found[1] not in row]:
                hint = f"The columns are {', '.join(f'`{column}`' for column in row)}."
                if meant := close_match(unknown, [*row]):
                    hint = f"Write `{{{meant}}}`."
                message = f"The rows have no column `{unknown[:80]}`."
                yield Mistake(source.file, place, "case-rows", message, hint)


def _texts(source: Source, value: object, loc: Loc) -> Iterator[tuple[Place, str]]:
    """Yield every text in a value, also its keys, with its place."""
    if isinstance(value, str):
        yield source.place(loc), value
    for key, inner in as_object(value).items():
        yield source.key((*loc, key)), key
        yield from _texts(source, inner, (*loc, key))
    for number, inner in enumerate(as_list(value)):
        yield from _texts(source, inner, (*loc, number))


def _filled(value: object, row: Row, *, typed: bool) -> object:
    if isinstance(value, str):
        whole = _COLUMN.fullmatch(value)
        if typed and whole is not None and not whole[2]:
            return _scalar(row.get(whole[1], value))
        return _filled_text(value, row)
    if items := as_list(value):
        return [_filled(inner, row, typed=typed) for inner in items]
    if fields := as_object(value):
        return {_filled_text(key, row): _filled(inner, row, typed=typed) for key, inner in fields.items()}
    return value


def _filled_text(text: str, row: Row) -> str:
    return _COLUMN.sub(lambda found: row.get(found[1], found[0]), text)


def _scalar(cell: str) -> object:
    """Return the number, true or false that a cell is as JSON writes it; any other cell is a text."""
    try:
        value: object = json.loads(cell)
    except ValueError:
        return cell
    if isinstance(value, bool | int | float) and json.dumps(value) == cell:
        return value
    return cell
