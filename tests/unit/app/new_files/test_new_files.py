"""New files of each kind pass the check as they are, and nothing is overwritten."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.catalog import mistakes
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.new_files.new_files import FOLDERS, Wanted, write_new
from gofer.app.new_files.triggers import KINDS
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from support.app.company import ROOT

CONFLICTS = ("slack.direct", "slack.channel_created")
"""The kinds that a shipped workflow has without a place, so that a second workflow is refused."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a copy of the shipped workflows, without their evals, which take most of the time of a check."""
    for name in FOLDERS:
        if name != "evals" and (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def repository_with_evals(repository: Path) -> Path:
    """Return a copy of the shipped workflows and evals."""
    shutil.copytree(ROOT / "evals", repository / "evals")
    return repository


def checked(root: Path) -> list[str]:
    """Return the mistakes of a folder, without hints."""
    agents = root / "agents"
    found = [*mistakes(agents), *eval_mistakes(agents, SystemClock())]
    return [str(one) for one in found if not one.is_hint]


@pytest.mark.parametrize("script", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CONFLICTS])
def test_new_workflow_of_each_trigger_passes_the_check(repository: Path, kind: str, script: bool) -> None:
    made = write_new(Wanted("workflow", "sum-up", trigger=kind, script=script), repository)
    assert {"agents/sum-up.yaml", "coordinators/sum_up.py" if script else "agents/sum-up.md"} <= {*made.files}
    assert all((repository / path).is_file() for path in made.files)
    assert ("evals/sum-up.yaml" in made.files) == any(command.startswith("gofer eval") for command in made.next)
    assert checked(repository) == []


@pytest.mark.parametrize(("kind", "has_eval"), [("slack.mention", True), ("jira.commented", False)])
def test_new_workflow_beside_the_shipped_evals_passes_the_check(
    repository_with_evals: Path, kind: str, has_eval: bool
) -> None:
    made = write_new(Wanted("workflow", "sum-up", trigger=kind), repository_with_evals)
    assert ("evals/sum-up.yaml" in made.files) == has_eval
    assert checked(repository_with_evals) == []


@pytest.mark.parametrize("kind", CONFLICTS)
def test_trigger_of_another_workflow_is_refused_and_no_file_is_left(repository: Path, kind: str) -> None:
    with pytest.raises(ConfigError, match=r"Nothing was written.*may also start the workflow in"):
        write_new(Wanted("workflow", "sum-up", trigger=kind), repository)
    assert not (repository / "agents" / "sum-up.yaml").exists()


def test_workflow_of_an_empty_repository_passes_the_check(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    for name in ("defaults.yaml", "preamble.md"):
        shutil.copy(ROOT / "agents" / name, tmp_path / "agents")
    write_new(Wanted("workflow", "sum-up", trigger="slack.direct", owner="#ops"), tmp_path)
    assert 'owner: "#ops"' in (tmp_path / "agents" / "sum-up.yaml").read_text()
    assert checked(tmp_path) == []


@pytest.mark.parametrize(
    "wanted",
    [Wanted("skill", "release-notes"), Wanted("tool", "sql_query"), Wanted("eval", "odd", workflow="answer-here")],
)
def test_other_new_files_pass_the_check(repository_with_evals: Path, wanted: Wanted) -> None:
    assert write_new(wanted, repository_with_evals).files
    assert checked(repository_with_evals) == []


def test_next_commands_name_the_new_files_and_the_programs_of_the_folder(repository_with_evals: Path) -> None:
    made = write_new(Wanted("eval", "odd", workflow="answer-here"), repository_with_evals)
    assert made.next == ["gofer check", "gofer eval odd --live"]
    assert write_new(Wanted("tool", "one"), repository_with_evals).next[1] == "python -m pytest tests/test_one.py"
    (repository_with_evals / ".ci").mkdir()
    (repository_with_evals / ".ci" / "tests").touch()
    assert write_new(Wanted("tool", "two"), repository_with_evals).next[1] == "bash .ci/tests"


def test_test_of_a_new_tool_passes(repository: Path) -> None:
    write_new(Wanted("tool", "on-call"), repository)
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_on_call.py", "-p", "no:cacheprovider"]
    done = subprocess.run(command, check=False, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_existing_file_is_kept(repository: Path) -> None:
    before = (repository / "agents" / "file-ticket.md").read_text()
    with pytest.raises(ConfigError, match=r"agents/file-ticket\.yaml exists already"):
        write_new(Wanted("workflow", "file-ticket", trigger="schedule"), repository)
    assert (repository / "agents" / "file-ticket.md").read_text() == before


@pytest.mark.parametrize("name", ["", "Sum", "a b", "-a", "../a", "a" * 61, "ä"])
def test_name_that_no_file_may_have_is_refused(repository: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be a name"):
        write_new(Wanted("skill", name), repository)


def test_unknown_trigger_and_unknown_workflow_name_those_that_exist(repository: Path) -> None:
    with pytest.raises(ConfigError, match=r"no trigger 'slack\.mentions'. There are: slack\.mention, "):
        write_new(Wanted("workflow", "a", trigger="slack.mentions"), repository)
    with pytest.raises(ConfigError, match="This folder has: answer-here, "):
        write_new(Wanted("eval", "a", workflow="other"), repository)
