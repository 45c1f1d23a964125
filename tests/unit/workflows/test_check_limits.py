"""The key `checks` of workflow files: own limits beside measured values, and checks that are off."""

from pathlib import Path

import pytest

from gofer.projections.checks.check_settings import DEFAULTS, Settings
from gofer.projections.checks.run_checks import CheckState, verdicts
from gofer.sources.workflow_files import WorkflowForm
from gofer.workflows.check_limits import Checks
from gofer.workflows.form import fill
from gofer.workflows.yaml_source import read_source

FILE = "description: d\nowner: '#o'\nwhen: [slack.mention]\n"


def mistakes(tmp_path: Path, checks: str) -> list[str]:
    path = tmp_path / "w.yaml"
    path.write_text(f"{FILE}checks:\n{checks}\n")
    _, found = fill(read_source(path), WorkflowForm)
    return [str(one).removeprefix(f"{path}:") for one in found]


def read(tmp_path: Path, checks: str) -> Checks:
    path = tmp_path / "w.yaml"
    path.write_text(f"{FILE}checks:\n{checks}\n")
    workflow, found = fill(read_source(path), WorkflowForm)
    assert found == []
    assert workflow is not None
    return workflow.checks


def test_workflow_sets_its_own_limits_and_switches_checks_off(tmp_path: Path) -> None:
    checks = read(
        tmp_path,
        "  llm-call-budget: {limit: 14, measured_p95: 9}\n"
        "  context-window-headroom: {limit: 0.7}\n"
        "  no-empty-evidence: off\n"
        "  no-tool-loops: 'off'",
    )
    assert checks.own_limits == {"llm-call-budget": 14, "context-window-headroom": 0.7}
    assert checks.switched_off == {"no-empty-evidence", "no-tool-loops"}


def test_settings_of_a_bundle_survive_writing_and_reading(tmp_path: Path) -> None:
    checks = read(tmp_path, "  execution-time: {limit: 60, measured_p95: 41.5}\n  no-invented-names: off")
    assert Checks.model_validate(checks.model_dump(mode="json")) == checks


def test_workflow_without_the_key_uses_every_default() -> None:
    assert (Checks().own_limits, Checks().switched_off) == ({}, frozenset())


def test_every_check_has_a_key_and_every_key_is_a_check() -> None:
    made = {verdict.check for verdict in verdicts(CheckState(), Settings())}
    assert made == {check for check, _ in Checks().settings()}
    assert DEFAULTS.keys() < made


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        (
            "  llm-call-budget: {limit: 14}",
            (
                "The limit 14 is looser than the default 10. Write beside it what you measured, as in "
                "`measured_p95: 9`, or leave out the limit."
            ),
        ),
        (
            "  llm-call-budget: {limit: 14, measured_p95: 14}",
            (
                "The limit 14 does not lie above the measured p95 14, so one run in twenty fails. Write a limit "
                "above the measured value, or make the runs cheaper."
            ),
        ),
        ("  context-window-headroom: {limit: 1.5}", "1.5"),
        ("  no-tool-loops: {limit: 2.5}", "whole number"),
        ("  no-tool-lops: off", "Write `no-tool-loops`."),
        ("  no-orphaned-tools: {limit: 3}", "limit"),
        ("  no-orphaned-tools: sometimes", "no-orphaned-tools"),
    ],
)
def test_mistaken_setting_of_a_check_is_explained(tmp_path: Path, checks: str, message: str) -> None:
    (found,) = mistakes(tmp_path, checks)
    assert message in found


def test_stricter_limit_needs_no_measured_value(tmp_path: Path) -> None:
    assert read(tmp_path, "  llm-call-budget: {limit: 4}").own_limits == {"llm-call-budget": 4}
