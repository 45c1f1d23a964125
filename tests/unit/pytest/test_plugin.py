"""`pytest --evals` on a repository with three cases, within this process except where the process itself counts."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.app.company import ROOT
from support.evals.small_repository import SmallRepository, says

pytest_plugins = ["pytester"]


@pytest.fixture
def repository(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> SmallRepository:
    """A repository without recorded answers, with a folder of ordinary tests, as the current folder."""
    folder = pytester.path
    made = SmallRepository(folder)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_ordinary.py").write_text("def test_ordinary():\n    pass\n")
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    until = datetime.now(UTC).date() + timedelta(days=3)
    quarantine = {"until": until, "reason": "Sampling.", "runs": 20, "passed": 11}
    made.cases(
        says("good", "restarted"),
        says("bad", "rolled back"),
        {**says("flaky", "rolled back"), "quarantine": quarantine},
    )
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("GOFER_DATA", str(folder / "state"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return made


@pytest.fixture
def recorded(repository: SmallRepository, capsys: pytest.CaptureFixture[str]) -> SmallRepository:
    """The repository with recorded answers."""
    record(capsys)
    return repository


def record(capsys: pytest.CaptureFixture[str]) -> None:
    """Record the answers of the scripts."""
    main(["eval", "--record"])
    capsys.readouterr()


PLUGIN = ("-p", "gofer_pytest.plugin", "-p", "no:cacheprovider", "-rA")


def played(pytester: pytest.Pytester, *words: str) -> tuple[int, str]:
    """Return the exit code and the output of pytest with the plugin, installed or not."""
    result = pytester.runpytest_inprocess(*PLUGIN, *words)
    return int(result.ret), f"{result.stdout}\n{result.stderr}"


def test_process_ends_with_one_if_a_case_fails(recorded: SmallRepository) -> None:
    command = [sys.executable, "-m", "pytest", *PLUGIN, "--evals"]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "FAILED evals/pager.yaml::bad" in ended.stdout


def test_each_case_is_a_test_with_the_report_as_its_failure(
    pytester: pytest.Pytester, recorded: SmallRepository
) -> None:
    code, found = played(pytester, "--evals")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "PASSED tests/test_ordinary.py::test_ordinary" in found
    assert "PASSED evals/pager.yaml::good" in found
    assert "FAILED evals/pager.yaml::bad" in found
    assert "XFAIL evals/pager.yaml::flaky" in found
    assert "pager/bad: 0/1 runs passed, 1 required" in found
    assert "first diverging step" in found
    assert "Traceback" not in found


def test_case_without_evidence_is_skipped_with_its_reason(pytester: pytest.Pytester, recorded: SmallRepository) -> None:
    recorded.prompt("Help, and be brief.")
    _, found = played(pytester, "--evals", "evals/pager.yaml::good")
    assert "1 skipped" in found
    assert "has no recorded answer" in found or "has no answer" in found


@pytest.mark.parametrize("chosen", ["evals", "evals/pager.yaml::good"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workflow: pager\ncases: [{name: Bad Name}]\n", "evals/pager.yaml:2"),
        ("workflow: pagr\ncases: [{name: good, trigger: {payload: mention.json}}]\n", "There is no workflow `pagr`"),
    ],
)
def test_mistake_in_an_eval_file_is_one_error_of_usage(
    pytester: pytest.Pytester, repository: SmallRepository, *, chosen: str, text: str, message: str
) -> None:
    (repository.path / "evals" / "pager.yaml").write_text(text)
    code, found = played(pytester, "--evals", chosen)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert found.count("ERROR") == 1
    assert message in found


def test_mistake_in_a_workflow_is_one_error_of_usage(pytester: pytest.Pytester, repository: SmallRepository) -> None:
    (repository.path / "agents" / "pager.yaml").write_text("description: Restart.\n")
    code, found = played(pytester, "--evals")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert found.count("ERROR") == 1
    assert "agents/pager.yaml:1" in found


def test_evals_are_not_collected_without_the_option(pytester: pytest.Pytester, repository: SmallRepository) -> None:
    code, found = played(pytester)
    assert (code, "1 passed" in found) == (0, True)
    # Even the modules of the player are not imported.
    program = "import sys, gofer_pytest.plugin; print([name for name in sys.modules if name.startswith('gofer.')])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_whole_suite_ends_with_the_prompts_that_no_case_loads(
    pytester: pytest.Pytester, repository: SmallRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    skill = repository.path / "skills" / "paging" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: paging\ndescription: How to page.\n---\nPage once.\n")
    record(capsys)
    _, found = played(pytester, "--evals")
    assert "1 of 3 prompts and skills are loaded by no case: skills/paging." in found
    _, found = played(pytester, "--evals", "evals/pager.yaml::good")
    assert "loaded by no case" not in found


@pytest.fixture
def goldens(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The shipped goldens with their workflows in the current folder; return the folder of the goldens."""
    for name in ("agents", "coordinators", "skills", "subagents", "evals/goldens"):
        shutil.copytree(ROOT / name, pytester.path / name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester.path / "evals" / "goldens"


def test_goldens_are_cases_and_one_with_a_mistake_fails_alone(pytester: pytest.Pytester, goldens: Path) -> None:
    (goldens / "rfc-review.run.json").write_text("{}")
    code, found = played(pytester, "--evals", "evals")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "PASSED evals/goldens/ticket-from-a-reaction.yaml::ticket-from-a-reaction" in found
    assert "FAILED evals/goldens/rfc-review.yaml::rfc-review" in found
    assert "evals/goldens/rfc-review.yaml:1:1: The golden cannot be used" in found
    assert "1 failed, 4 passed" in found
