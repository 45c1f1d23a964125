"""The shipped files of a new repository: each workflow comes with everything that it uses."""

from pathlib import Path

import pytest

from gofer.app.catalog import mistakes
from gofer.app.new_repository.contents import shipped_files
from gofer.app.new_repository.shipped import shipped
from gofer.values.errors import ConfigError
from gofer.workflows.mistake import HINTS

SHIPPED = sorted(path.stem for path in (shipped() / "agents").glob("*.yaml") if path.stem != "defaults")


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_workflow_passes_the_check_alone(name: str, tmp_path: Path) -> None:
    for path, content in shipped_files(shipped(), [name]).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    assert [str(found) for found in mistakes(tmp_path / "agents") if found.rule not in HINTS] == []
    assert (tmp_path / "evals" / f"{name}.yaml").is_file()


def test_two_workflows_bring_the_files_of_both_and_no_other_workflow() -> None:
    both = set(shipped_files(shipped(), ["answer-here", "mark-merged"]))
    assert both == {path for name in ("answer-here", "mark-merged") for path in shipped_files(shipped(), [name])}
    assert {path for path in both if path.startswith("coordinators/")} == {"coordinators/mark_merged.py"}


def test_unknown_workflow_is_refused_with_the_known_names() -> None:
    with pytest.raises(ConfigError, match=r"Gofer ships no workflow 'triage'\. It ships: answer-here, "):
        shipped_files(shipped(), ["triage"])
