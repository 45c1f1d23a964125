"""Goldens as CSV, without cells that a spreadsheet executes."""

import csv
import io
from pathlib import Path

import pytest

from gofer.evals.goldens.golden_file import FOLDER, read_golden_file
from gofer.evals.goldens.spreadsheet import COLUMNS, csv_text, harmless_cell

ROOT = Path(__file__).parents[4]
GOLDEN = ROOT / FOLDER / "ticket-from-a-reaction.yaml"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "\ufeff=1", "＝1", "|calc"]
)
def test_cell_that_looks_like_a_formula_begins_with_an_apostrophe(text: str) -> None:
    assert harmless_cell(text) == f"'{text}"


def test_other_cells_stay() -> None:
    assert harmless_cell("PAY-18: 1 = 1") == "PAY-18: 1 = 1"


def test_each_turn_is_a_row_with_the_objects_seen() -> None:
    golden = read_golden_file(GOLDEN)
    turn = golden.turns[0].model_copy(update={"input": '=cmd|"/c calc"!A0, "quoted"\nsecond line'})
    rows = list(csv.reader(io.StringIO(csv_text(golden.model_copy(update={"turns": (turn, *golden.turns)})))))
    assert tuple(rows[0]) == COLUMNS
    assert [row[1] for row in rows[1:]] == ["1", "2"]
    cells = dict(zip(COLUMNS, rows[1], strict=True))
    assert cells["input"] == '\'=cmd|"/c calc"!A0, "quoted"\nsecond line'
    assert "issue: Refunds are paid twice" in cells["seen"]
    assert cells["run"] == golden.turns[0].run
