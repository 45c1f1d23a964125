"""The rows of a case: one case for each line of a CSV file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.load import load_evals, read_evals
from gofer.evals.plan import chosen, plan
from gofer.evals.rows import MOST_ROWS, with_rows
from gofer.workflows.yaml_source import read_source

EVAL = """\
workflow: refunds
cases:
  - name: first
    trigger: {payload: {}}
  - name: refund
    rows: rows/refunds.csv
    trigger: {text: "Refund {booking}, {amount} euros"}
    expect:
      world:
        changed: {"/shop/bookings/{booking}/refund": "{amount}", "/shop/code": "{code:text}"}
        counts: {/shop/notes/*: "{notes}"}
"""
ROWS = "booking,amount,code,notes\nAB1,30,007,1\nAB2,12.5,8,0\n"


def folder(path: Path, rows: str | bytes = ROWS, evals: str = EVAL) -> Path:
    (path / "rows").mkdir(exist_ok=True)
    content = rows if isinstance(rows, bytes) else rows.encode()
    (path / "rows" / "refunds.csv").write_bytes(content)
    (path / "shop.yaml").write_text(evals)
    return path


def problems(path: Path) -> str:
    return " ".join(f"{one.place.line}:{one.place.column} {one.message} {one.hint}" for one in read_evals(path)[1])


def test_each_line_is_a_case_with_its_cells(tmp_path: Path) -> None:
    (loaded,) = load_evals(folder(tmp_path))
    cases = loaded.eval.cases
    assert [case.name for case in cases] == ["first", "refund[1]", "refund[2]"]
    trigger = cases[1].trigger
    assert trigger is not None
    assert trigger.text == "Refund AB1, 30 euros"
    assert cases[1].expect.world.changed == {"/shop/bookings/AB1/refund": 30, "/shop/code": "007"}
    assert cases[2].expect.world.changed == {"/shop/bookings/AB2/refund": 12.5, "/shop/code": "8"}
    assert [case.expect.world.counts for case in cases[1:]] == [{"/shop/notes/*": 1}, {"/shop/notes/*": 0}]


def test_lines_are_named_by_a_column_and_chosen_together(tmp_path: Path) -> None:
    rows = "name,booking,amount,code,notes\nlate,AB1,30,1,1\nearly,AB2,5,2,1\n"
    (loaded,) = load_evals(folder(tmp_path, rows))
    planned = plan([loaded], {})
    assert [one.name for one in chosen(planned, ["refund"], [])] == ["shop/refund[late]", "shop/refund[early]"]
    assert [one.name for one in chosen(planned, ["shop/refund[late]"], [])] == ["shop/refund[late]"]
    assert {one.place for one in planned[1:]} == {f"{tmp_path / 'shop.yaml'}:5"}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("", "6:11 The rows of `rows/refunds.csv` cannot be played: the file is empty."),
        ("booking,amount,code,notes\n", "6:11 The rows of `rows/refunds.csv` cannot be played: there is no row below"),
        (f"booking\n{'A' * 3}\n", "The rows have no column `amount`. The columns are `booking`."),
        ("bookings,amount,code,notes\nA,1,1,1\n", "7:21 The rows have no column `booking`. Write `{bookings}`."),
        ("booking,booking\nA,B\n", "the column 'booking' has no name of its own"),
        ("booking,amount,code,notes\nA,1\n", "row 1 has 2 cells, and there are 4 columns."),
        ("name,booking,amount,code,notes\nX Y,A,1,1,1\n", "the name 'X Y' is not one of its own of a-z"),
        (f"booking\n{'A' + chr(10)}" * (MOST_ROWS + 1), f"and at most {MOST_ROWS} are played."),
        (b"\xff\xfe", "is not UTF-8."),
        ('booking\n"A', "the file is not CSV"),
        ("booking,amount,code,notes\nA,1,1,many\n", "11:33 `expect.world.counts./shop/notes/*` is the text `{notes}`"),
    ],
)
def test_mistakes_in_rows_are_found_at_their_case(tmp_path: Path, rows: str | bytes, problem: str) -> None:
    found = problems(folder(tmp_path, rows))
    assert problem in found


def test_a_missing_file_of_rows_is_the_only_mistake(tmp_path: Path) -> None:
    (folder(tmp_path) / "rows" / "refunds.csv").unlink()
    (found,) = read_evals(tmp_path)[1]
    assert found.message == f"There is no file `rows/refunds.csv` in {tmp_path.name}/."


@given(st.lists(st.tuples(st.integers(0, 99), st.text("abc{}", max_size=4)), min_size=1, max_size=9))
def test_every_place_of_a_made_case_is_one_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[int, str]]
) -> None:
    path = tmp_path_factory.mktemp("rows")
    lines = "".join(f"A{number},{number},{text},1\n" for number, text in cells)
    source = read_source(folder(path, f"booking,amount,code,notes\n{lines}") / "shop.yaml")
    made, mistakes = with_rows(source)
    assert mistakes == []
    assert set(made.values.values()) == set(source.values.values())
    assert len([loc for loc in made.values if len(loc) == 2]) == 1 + len(cells)
