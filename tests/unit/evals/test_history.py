"""The history of the scores of a case, kept as lines of a file."""

from pathlib import Path

import pytest

from gofer.evals import history
from gofer.evals.history import FILE_BYTES, PastRun, append, past_run, read
from gofer.evals.results import CaseRun, Grade
from support.evals.past_runs import past


def test_appended_runs_are_read_in_their_order(tmp_path: Path) -> None:
    runs = [past(number=number) for number in range(1, 4)]
    for run in runs:
        append(tmp_path, run)
    append(tmp_path, past(case="answers/other"))
    assert read(tmp_path, "answers/basic") == runs
    assert read(tmp_path, "answers/unknown") == []


def test_line_has_the_verdict_of_each_dimension_and_no_text_of_a_grade() -> None:
    grades = [
        Grade("tools.required", passed=False, expected="secret one", happened="secret two", explanation="secret three"),
        Grade("tools.required", passed=True),
        Grade("status", passed=True),
        Grade("judge.faithful", passed=False, missing="no_evidence"),
    ]
    run = CaseRun(
        number=2, outcome="failed", runs=["ab"], grades=grades, evidence="live", problem="secret", cost_usd=0.5
    )
    line = past_run("answers/basic", run, 1_000.0, "c" * 40, changed=True)
    assert line.verdicts == {"tools.required": False, "status": True}
    assert (line.number, line.commit, line.changed, line.cost_usd, line.runs) == (2, "c" * 40, True, 0.5, ("ab",))
    assert "secret" not in line.model_dump_json()


@pytest.mark.parametrize("kept", [1, 40, -2])
def test_line_that_a_killed_process_left_in_part_is_ignored_and_the_next_line_is_read(
    tmp_path: Path, kept: int
) -> None:
    append(tmp_path, past(number=1))
    append(tmp_path, past(number=2))
    (path,) = (tmp_path / history.FOLDER).iterdir()
    first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(first + b"\n" + second[:kept])
    assert [run.number for run in read(tmp_path, "answers/basic")] == [1]
    append(tmp_path, past(number=3))
    assert [run.number for run in read(tmp_path, "answers/basic")] == [1, 3]


def test_line_of_a_newer_gofer_is_read_without_its_unknown_fields(tmp_path: Path) -> None:
    append(tmp_path, past(number=1))
    (path,) = (tmp_path / history.FOLDER).iterdir()
    path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":1,"mood":"good"'))
    assert read(tmp_path, "answers/basic") == [past(number=1)]


def test_history_of_a_case_is_bounded_and_keeps_the_newest_runs(tmp_path: Path) -> None:
    long = past(verdicts={f"dimension-{n}": True for n in range(500)})
    size = len(long.model_dump_json())
    total = 3 * FILE_BYTES // size
    for number in range(total):
        append(tmp_path, long.model_copy(update={"number": number}))
    (path,) = (tmp_path / history.FOLDER).iterdir()
    assert path.stat().st_size <= FILE_BYTES
    numbers = [run.number for run in read(tmp_path, "answers/basic")]
    assert numbers == list(range(numbers[0], total))
    assert len(numbers) * size >= FILE_BYTES // 3


def test_run_with_too_many_dimensions_is_kept_without_verdicts(tmp_path: Path) -> None:
    append(tmp_path, past(verdicts={f"dimension-{n}": True for n in range(5_000)}))
    (run,) = read(tmp_path, "answers/basic")
    assert run.verdicts == {}


@pytest.mark.parametrize("case", ["../../outside", "a/" + "b" * 400, "Große Fälle/x y"])
def test_history_of_any_case_stays_in_its_folder(tmp_path: Path, case: str) -> None:
    append(tmp_path / "evals", past(case=case))
    assert read(tmp_path / "evals", case) == [past(case=case)]
    assert [path.name for path in tmp_path.iterdir()] == ["evals"]
    assert len(list((tmp_path / "evals" / history.FOLDER).iterdir())) == 1


def test_long_names_that_share_a_file_have_separate_histories(tmp_path: Path) -> None:
    names = ["a/" + "b" * 400 + end for end in "xy"]
    for name in names:
        append(tmp_path, past(case=name))
    assert [read(tmp_path, name) for name in names] == [[past(case=name)] for name in names]


def test_past_run_is_equal_after_a_round_trip() -> None:
    run = past(verdicts={"status": True}, models=("m",), cost_usd=None)
    assert PastRun.model_validate_json(run.model_dump_json(exclude_defaults=True)) == run
