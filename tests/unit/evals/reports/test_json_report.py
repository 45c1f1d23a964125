"""The JSON report: valid by its schema, and read back as the same result."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from gofer.evals.reports.json_report import read_report, report_json, report_schema
from gofer.evals.results import SCHEMA_VERSION, SuiteResult
from gofer.values.errors import ConfigError
from support.evals.suite_results import hostile_suite, large_suite, pull_request

SCHEMA = Path(__file__).parents[4] / "docs" / "eval-report.schema.json"
RESULTS = {"pull request": pull_request(), "large": large_suite(500), "hostile": hostile_suite()}


@pytest.mark.parametrize("name", RESULTS)
def test_report_is_valid_by_the_published_schema(name: str) -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    report = json.loads(report_json(RESULTS[name]))
    jsonschema.Draft202012Validator(schema).validate(report)
    assert report["schema_version"] == SCHEMA_VERSION


def test_published_schema_is_the_one_of_the_code() -> None:
    assert SCHEMA.read_text() == f"{json.dumps(report_schema(), indent=2)}\n"


@pytest.mark.parametrize("name", RESULTS)
def test_report_read_back_is_the_same_result(name: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_json(RESULTS[name]))
    read = read_report(path)
    assert isinstance(read, SuiteResult)
    assert report_json(read) == path.read_text()
    assert read.exit_code == RESULTS[name].exit_code


def test_report_of_a_later_minor_change_is_read(tmp_path: Path) -> None:
    report = json.loads(report_json(pull_request()))
    report["result"]["cases"][0]["new_field"] = 1
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    assert len(read_report(path).cases) == len(pull_request().cases)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ('{"schema_version": 3}', "schema_version: Input should be 2"),
        ("[]", "the file: Input should be"),
    ],
)
def test_file_without_a_report_of_this_version_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=reason):
        read_report(path)


def test_report_of_the_version_before_is_read_without_its_verdicts(tmp_path: Path) -> None:
    report = json.loads(report_json(pull_request()))
    verdict = {"verdict": "regressed", "passed_before": 3, "runs_before": 3, "p_value": 0.018}
    report["schema_version"] = 1
    report["result"]["comparison"] = verdict
    for case in report["result"]["cases"]:
        case["comparison"] = verdict
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    read = read_report(path)
    assert {read.comparison, *(case.comparison for case in read.cases)} == {None}
    assert [case.passed for case in read.cases] == [case.passed for case in pull_request().cases]


def test_cost_and_version_survive_the_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_json(replace(pull_request(), agent_versions={"file-ticket": "5b1e"})))
    read = read_report(path)
    assert read.agent_versions == {"file-ticket": "5b1e"}
    assert read.cases[0].runs[0].cost_usd == 0.0034
