"""`pytest --evals` in a process of its own, on a repository with three cases."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.evals.small_repository import SmallRepository, says


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> SmallRepository:
    """A repository with recorded answers and a folder of ordinary tests."""
    made = SmallRepository(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_ordinary.py").write_text("def test_ordinary():\n    pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    until = datetime.now(UTC).date() + timedelta(days=3)
    quarantine = {"until": until, "reason": "Sampling.", "runs": 20, "passed": 11}
    made.cases(
        says("good", "restarted"),
        says("bad", "rolled back"),
        {**says("flaky", "rolled back"), "quarantine": quarantine},
    )
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    main(["eval", "--record"])
    capsys.readouterr()
    return made


def run_pytest(*words: str) -> str:
    """Return the output of pytest with the plugin, installed or not."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "gofer_pytest.plugin", "-rA", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stdout


def test_each_case_is_a_test_with_the_report_as_its_failure(repository: SmallRepository) -> None:
    found = run_pytest("--evals")
    assert "PASSED tests/test_ordinary.py::test_ordinary" in found
    assert "PASSED evals/pager.yaml::good" in found
    assert "FAILED evals/pager.yaml::bad" in found
    assert "XFAIL evals/pager.yaml::flaky" in found
    assert "pager/bad: 0/1 runs passed, 1 required" in found
    assert "first diverging step" in found
    assert "Traceback" not in found


def test_case_without_evidence_is_skipped_with_its_reason(repository: SmallRepository) -> None:
    repository.prompt("Help, and be brief.")
    found = run_pytest("--evals", "evals/pager.yaml::good")
    assert "1 skipped" in found
    assert "has no recorded answer" in found or "has no answer" in found


def test_mistake_in_an_eval_file_is_an_error_of_its_collection(repository: SmallRepository) -> None:
    (repository.path / "evals" / "pager.yaml").write_text("workflow: pager\ncases: [{name: Bad Name}]\n")
    found = run_pytest("--evals", "evals")
    assert "evals/pager.yaml:2" in found
    assert "1 error" in found


def test_evals_are_not_collected_without_the_option(repository: SmallRepository) -> None:
    assert "1 passed" in run_pytest()
    # Even the modules of the player are not imported.
    code = "import sys, gofer_pytest.plugin; print([name for name in sys.modules if name.startswith('gofer.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
