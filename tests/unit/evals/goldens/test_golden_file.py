"""Files of goldens: written and read again, with mistakes at their lines."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gofer.evals.case_begin import DecisionPoint
from gofer.evals.eval_file import Criterion, Expectations, OutputExpectations, Runs
from gofer.evals.goldens.golden_file import FOLDER, golden_text, read_golden_file, recording_path
from gofer.evals.goldens.golden_reader import read_golden
from gofer.values.errors import ConfigError

SHIPPED = sorted((Path(__file__).parents[4] / FOLDER).glob("*.yaml"))


def copied(tmp_path: Path) -> Path:
    path = tmp_path / SHIPPED[0].name
    shutil.copy(SHIPPED[0], path)
    shutil.copy(recording_path(SHIPPED[0]), recording_path(path))
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_golden_is_written_unchanged(path: Path) -> None:
    read = read_golden(path)
    assert golden_text(read.golden) == path.read_text()
    assert [turn.run for turn in read.turns] == [turn.run for turn in read.golden.turns]


def test_texts_of_templates_and_of_any_signs_are_read_again(tmp_path: Path) -> None:
    path = copied(tmp_path)
    golden = read_golden_file(path)
    text = "${{ secrets.x }} {{ y }} #: - yes 2026-01-01\n  indented: |\n\ttab"
    changed = golden.model_copy(update={"description": text, "not_contains": ("yes", "null", "1")})
    path.write_text(golden_text(changed))
    assert read_golden_file(path) == changed


def test_unknown_key_is_named_with_its_line(tmp_path: Path) -> None:
    path = copied(tmp_path)
    path.write_text(path.read_text().replace("workflow:", "worflow:", 1))
    with pytest.raises(ConfigError, match=r"\.yaml:2:\d+"):
        read_golden(path)


def test_regression_without_a_rule_is_refused(tmp_path: Path) -> None:
    path = copied(tmp_path)
    path.write_text(path.read_text() + "purpose: regression\n")
    with pytest.raises(ConfigError, match="needs `not_contains` or `judge`"):
        read_golden(path)


@pytest.mark.parametrize(
    "rule",
    [
        {"decision": DecisionPoint(), "next": ("jira_search",)},
        {"judge": (Criterion(id="right", ask="Is it right?"),)},
        {"not_contains": ("no outage",)},
    ],
)
def test_regression_with_a_rule_is_read_again(tmp_path: Path, rule: Mapping[str, object]) -> None:
    path = copied(tmp_path)
    golden = read_golden_file(path).model_copy(update={"purpose": "regression", "runs": Runs(n=3), **rule})
    path.write_text(golden_text(golden))
    again = read_golden_file(path)
    assert (again.purpose, again.runs, again.has_rule) == ("regression", Runs(n=3), True)


def test_expected_answer_is_a_rule_of_a_regression(tmp_path: Path) -> None:
    golden = read_golden_file(copied(tmp_path))
    expect = Expectations(output=OutputExpectations(contains_all=("PAY",)))
    turn = golden.turns[-1].model_copy(update={"expect": expect})
    assert golden.model_copy(update={"turns": (turn,)}).has_rule
    bare = golden.turns[-1].model_copy(update={"expect": Expectations()})
    assert not golden.model_copy(update={"turns": (bare,), "judge": (), "not_contains": ()}).has_rule


def test_golden_with_the_name_of_another_file_is_refused(tmp_path: Path) -> None:
    path = copied(tmp_path)
    renamed = path.with_name("other.yaml")
    path.rename(renamed)
    with pytest.raises(ConfigError, match="one name"):
        read_golden_file(renamed)


@pytest.mark.parametrize("text", ["", "{", '{"format": 2}', '{"format": 1, "runs": []}', '{"format": 1, "runs": [{}]}'])
def test_file_in_another_format_is_no_recording(tmp_path: Path, text: str) -> None:
    path = copied(tmp_path)
    recording_path(path).write_text(text)
    with pytest.raises(ConfigError, match=r"run\.json: "):
        read_golden(path)


def test_missing_recording_is_named(tmp_path: Path) -> None:
    path = copied(tmp_path)
    recording_path(path).unlink()
    with pytest.raises(ConfigError, match="the recording of the golden is missing"):
        read_golden(path)
