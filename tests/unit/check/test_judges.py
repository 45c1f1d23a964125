"""The check of judge criteria in eval files."""

import json
from pathlib import Path

import pytest

from gofer.check.judges import check_judges
from gofer.sources.workflow_files import load_catalog

CASE = "workflow: w\ncases:\n  - name: one\n    trigger: {payload: {}}\n    judge: [{id: cause, ask: Why?LABELS}]\n"


SPOKEN = "workflow: w\ncases:\n  - name: one\n    trigger: {text: hello}\n    user: A customer in a hurry.\n"


def found(tmp_path: Path, models: str, labels: str = "", case: str = CASE) -> list[str]:
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\n')
    (agents / "w.md").write_text("Do it.")
    (agents / "defaults.yaml").write_text(models)
    evals = tmp_path / "evals"
    evals.mkdir(exist_ok=True)
    (evals / "w.yaml").write_text(case.replace("LABELS", labels))
    mistakes = check_judges(evals, load_catalog(agents))
    return [f"{mistake.place.line} {mistake.rule}: {mistake.message}" for mistake in mistakes]


def test_criterion_without_the_role_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = found(tmp_path, "models: {default: m}\n")
    assert mistake.startswith("5 missing-judge: `agents/defaults.yaml` has no role `judge`")


def test_person_without_the_role_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = found(tmp_path, "models: {default: m}\n", case=SPOKEN)
    assert mistake == "5 missing-judge: `agents/defaults.yaml` has no role `judge`, so no model plays this `user`."


def test_judge_that_plays_the_role_of_the_workflow_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = found(tmp_path, "models: {default: [a, m], judge: m}\n")
    assert mistake.startswith(
        "5 judge-of-itself: The role `judge` is played by `m`, which the workflow may ask as well."
    )


def test_same_name_at_another_endpoint_is_another_model(tmp_path: Path) -> None:
    models = (
        'endpoints: {o: {base_url: "https://o.example.com"}}\nmodels: {default: m, judge: {name: m, endpoint: o}}\n'
    )
    assert found(tmp_path, models) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (json.dumps({"text": "x", "label": "CORRECT"}), "unmeasured-criterion: The criterion `cause` never blocks."),
        ('{"text": "x"}', "wrong-labels: "),
    ],
)
def test_labels_are_read_and_their_measurement_is_looked_up(tmp_path: Path, line: str, rule: str) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "l.jsonl").write_text(line)
    (mistake,) = found(tmp_path, "models: {default: m, judge: j}\n", ", labels: l.jsonl")
    assert mistake.startswith(f"5 {rule}")


def test_missing_labels_are_left_to_the_check_of_references(tmp_path: Path) -> None:
    assert found(tmp_path, "models: {default: m, judge: j}\n", ", labels: none.jsonl") == []
