"""Limits under `checks` that no run can exceed."""

import re
from pathlib import Path

import pytest

from gofer.check.folder import check_folder
from gofer.projections.checks.check_settings import DEFAULTS
from gofer.sources.workflow_files import WorkflowForm
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import Defaults
from gofer.workflows.yaml_source import read_source

ROOT = Path(__file__).parents[3]
HEALTH = ROOT / "docs" / "health.md"
AGENTS = ROOT / "agents"
WORKFLOWS = set(AGENTS.glob("*.yaml")) - {AGENTS / "defaults.yaml"}
FILE = "description: d\nowner: '#o'\nwhen: [slack.mention]\n"


def all_mistakes(tmp_path: Path, text: str, defaults: str = "") -> list[Mistake]:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "w.yaml").write_text(FILE + text)
    (folder / "w.md").write_text("Answer.")
    if defaults:
        (folder / "defaults.yaml").write_text(defaults)
    return list(check_folder(folder, {}))


def mistakes(tmp_path: Path, text: str, defaults: str = "") -> list[str]:
    found = all_mistakes(tmp_path, text, defaults)
    return [f"{one.place.line}: {one.message} {one.hint}" for one in found if one.rule == "check-never-fails"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "limits: {llm_calls: 14}\nchecks:\n  llm-call-budget: {limit: 14, measured_p95: 9}\n",
            (
                "6: The check llm-call-budget can never fail: its limit is 14, and `limits: llm_calls` ends runs at "
                "14. Write a limit below 14, or raise the limit of the runs."
            ),
        ),
        (
            "limits: {minutes: 1}\nchecks:\n  execution-time: {limit: 90, measured_p95: 41}\n",
            (
                "6: The check execution-time can never fail: its limit is 90, and `limits: minutes` ends runs at 60 "
                "seconds. Write a limit below 60, or raise the limit of the runs."
            ),
        ),
    ],
)
def test_limit_of_a_check_at_or_above_the_limit_of_the_run_is_a_mistake(
    tmp_path: Path, text: str, message: str
) -> None:
    assert mistakes(tmp_path, text) == [message]


def test_limit_of_a_check_is_compared_with_the_limits_of_the_defaults(tmp_path: Path) -> None:
    text = "checks:\n  llm-call-budget: {limit: 14, measured_p95: 9}\n"
    assert mistakes(tmp_path, text, "limits: {llm_calls: 20}\n") == []


def test_default_limit_that_no_run_can_exceed_is_no_mistake(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "limits: {llm_calls: 4, minutes: 0.4}\n") == []


def test_checks_in_the_documentation_are_without_mistakes(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", HEALTH.read_text(), re.DOTALL)
    assert len(blocks) == 1
    found = all_mistakes(tmp_path, blocks[0], "models: {default: gpt-5.4-mini}\n")
    assert [one for one in found if one.file.name == "w.yaml"] == []


@pytest.mark.parametrize("path", sorted(WORKFLOWS), ids=lambda path: path.stem)
def test_shipped_workflow_has_a_budget_of_model_calls_that_runs_can_exceed(path: Path) -> None:
    workflow, _ = fill(read_source(path), WorkflowForm)
    assert workflow is not None
    defaults, _ = fill(read_source(AGENTS / "defaults.yaml"), Defaults)
    assert defaults is not None
    limits = defaults.limits.model_copy(update=workflow.limits.model_dump(exclude_unset=True))
    budget = workflow.checks.own_limits.get("llm-call-budget", DEFAULTS["llm-call-budget"])
    assert budget < limits.llm_calls or "llm-call-budget" in workflow.checks.switched_off
