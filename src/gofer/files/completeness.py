"""The completeness of a document's text: the missing parts, the reasons, and the exact calls that get them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import cast

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.missing import Missing, MissingUnit

LOOKED_AT = 10
"""The most pages of a PDF that a model looks at in one call. Each costs as much as some thousand characters, in every
later model call as well. Longer PDFs are searched and read as text."""

RANGES = 20
"""The most ranges of numbers that a sentence lists."""

AS_ASKED = "only a part was asked for"
"""The reason for parts that the call did not ask for."""

AGAIN = "ask for the file to be sent again"
"""The advice for damage, which no call can repair."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part of a document that a call asks for; the defaults ask for all of it."""

    first_page: int = 1
    """The first page of a PDF, counted from 1."""
    last_page: int = 0
    """The last page of a PDF, included; 0 means the end of the document."""
    first_row: int = 1
    """The first row of a sheet or a table, counted from 1 as spreadsheets do."""
    sheet: str = ""
    """The name of one sheet of a workbook; empty for all sheets."""

    def fields(self) -> dict[str, object]:
        """Return the fields as plain JSON."""
        return asdict(self)


ALL = Wanted()


def wanted_of(fields: Mapping[str, object]) -> Wanted:
    """Return the requested part from the fields of a job."""
    numbers = {name: cast(int, fields[name]) for name in ("first_page", "last_page", "first_row")}
    return Wanted(**numbers, sheet=as_text(fields["sheet"]))


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a document, and the parts that it lacks."""

    text: str
    missing: tuple[Missing, ...] = ()


def to_fields(missing: Iterable[Missing]) -> list[dict[str, object]]:
    """Return missing parts as plain JSON."""
    return [
        {
            "unit": gap.unit,
            "part": gap.part,
            "why": gap.reason,
            "tool": gap.tool,
            "arguments": gap.arguments,
            "instead": gap.instead,
        }
        for gap in missing
    ]


def from_fields(value: object) -> tuple[Missing, ...]:
    """Return the missing parts that `to_fields` wrote."""
    return tuple(_from_object(as_object(item)) for item in as_list(value))


def _from_object(fields: Mapping[str, object]) -> Missing:
    return Missing(
        unit=cast(MissingUnit, fields["unit"]),
        part=as_text(fields["part"]),
        reason=as_text(fields["why"]),
        tool=as_text(fields["tool"]),
        arguments=as_object(fields["arguments"]) or None,
        instead=as_text(fields["instead"]),
    )


def of_file(missing: Iterable[Missing], file: str) -> tuple[Missing, ...]:
    """Return missing parts with the id of their document."""
    return tuple(replace(gap, document=file) for gap in missing)


def together(groups: Iterable[Iterable[Missing]]) -> tuple[Missing, ...]:
    """Return the missing parts of several files in order, without duplicates."""
    found: list[Missing] = []
    for gap in chain.from_iterable(groups):
        if gap not in found:
            found.append(gap)
    return tuple(found)


def exact_call(gap: Missing) -> str:
    """Return the call that gets a part, such as `extract_file(file="file_1", first_page=2001)`; empty if none can."""
    if not gap.tool:
        return ""
    arguments = {"file": gap.document, **(gap.arguments or {})}
    written = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{gap.tool}({written})"


def incomplete(missing: Sequence[Missing], name: str, call: Callable[[Missing], str] = exact_call) -> str:
    """Return the warning of every answer over an incomplete text; empty for a complete one.

    `name` begins the sentence. `call` returns the call that gets a part, or nothing if the reader cannot make it.
    """
    if not missing:
        return ""
    return f"{name} is incomplete. {' '.join(f'Missing: {_clause(gap, call(gap))}.' for gap in missing)}"


def _clause(gap: Missing, call: str) -> str:
    clause = f"{gap.part}, because {gap.reason}"
    if call:
        return ", ".join(filter(None, [f"{clause}; get it with {call}", gap.instead]))
    if gap.instead and not gap.tool:
        return f"{clause}; {gap.instead}"
    return clause


def numbered(noun: str, numbers: Sequence[int]) -> str:
    """Return ordered numbers as people write them: `page 4`, `pages 1 to 3, 7`."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]:,}"
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    texts = [" to ".join(f"{end:,}" for end in span) for span in ranges]
    listed = f"{noun}s {', '.join(texts[:RANGES])}"
    if len(texts) > RANGES:
        return f"{listed} and {len(texts) - RANGES:,} more ranges"
    return listed
