"""The turns of a golden as CSV, one row a turn, safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Sequence

from gofer.evals.goldens.golden_file import Golden, SeenByPerson

COLUMNS = ("golden", "turn", "workflow", "run", "event", "input", "expected", "seen", "context")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
"""Beginnings that spreadsheets take for formulas or commands."""


def csv_text(golden: Golden) -> str:
    """Return the CSV of a golden with a header row; texts that look like formulas begin with an apostrophe."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for number, turn in enumerate(golden.turns, 1):
        texts = (
            golden.golden,
            str(number),
            golden.workflow,
            turn.run,
            turn.event,
            turn.input,
            turn.expected,
            _lines(turn.seen),
            turn.context,
        )
        rows.writerow([harmless_cell(text) for text in texts])
    return written.getvalue()


def harmless_cell(text: str) -> str:
    """Return a text that no spreadsheet executes."""
    if text.lstrip(" \u00a0\ufeff").startswith(_FORMULA):
        return f"'{text}"
    return text


def _lines(seen: Sequence[SeenByPerson]) -> str:
    return "\n".join(f"{one.kind}: {one.text}" for one in seen)
