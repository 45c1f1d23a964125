"""The first command for a workflow runs in a new repository with this workflow alone, offline."""

import shlex
from pathlib import Path

import pytest

from gofer.app.new_repository.first_run import first_run
from gofer.app.new_repository.writing import Asked, write_repository
from gofer.cli.main import main
from support.app.company import ROOT

SHIPPED = sorted(path.stem for path in (ROOT / "agents").glob("*.yaml") if path.stem != "defaults")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which commands run in, without any setting."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize("workflow", SHIPPED)
def test_first_command_of_each_shipped_workflow_works_offline(
    folder: Path, workflow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_repository(Asked(folder / "acme", [workflow]))
    written = (folder / "acme" / "README.md").read_text()
    command = first_run(ROOT, workflow)
    assert f"   {command}\n" in written
    program, *words = shlex.split(command)
    assert program == ".venv/bin/gofer"
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder / "acme")
        assert main(words) == 0
    assert ": done\n" in capsys.readouterr().err


def test_headers_and_worlds_of_the_first_case_are_options() -> None:
    assert first_run(ROOT, "assign-reviewers").endswith(
        "--header 'X-GitHub-Event: pull_request' --world evals/worlds/shop.yaml"
    )


def test_workflow_without_evals_runs_without_an_event(tmp_path: Path) -> None:
    assert first_run(tmp_path, "digest") == ".venv/bin/gofer run digest"
