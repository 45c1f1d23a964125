"""`gofer eval` says what its plays do not prove: prompts and skills that no case loads."""

import subprocess
from pathlib import Path

import pytest

from support.app.command_line import gofer
from support.evals.small_repository import WORKFLOW, SmallRepository, report, says

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]
SKILL = "---\nname: tone\ndescription: How to write to customers.\n---\nBe kind.\n"


def git(*words: str) -> None:
    """Run Git in the present folder."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None, capsys: Capture) -> SmallRepository:
    """A committed repository with one case, and with a skill and a subagent that the case does not load."""
    made = SmallRepository(tmp_path)
    (tmp_path / "skills" / "tone").mkdir(parents=True)
    (tmp_path / "skills" / "tone" / "SKILL.md").write_text(SKILL)
    (tmp_path / "subagents").mkdir()
    (tmp_path / "subagents" / "think.yaml").write_text("description: Thinks.\nmodel: {name: gpt-5.4-mini}\n")
    (tmp_path / "subagents" / "think.md").write_text("Think.\n")
    made.cases({**says("restarted", "restarted"), "tags": ["smoke"]})
    monkeypatch.chdir(tmp_path)
    assert gofer(capsys, "eval", "--record")[0] == 3
    (tmp_path / ".gitignore").write_text("state/\n__pycache__/\n")
    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "Begin")
    return made


@pytest.mark.parametrize(
    ("path", "name"),
    [("skills/tone/SKILL.md", "skills/tone"), ("subagents/think.md", "subagents/think")],
)
def test_changed_text_that_no_case_loads_is_no_evidence(
    capsys: Capture, repository: SmallRepository, path: str, name: str
) -> None:
    assert gofer(capsys, "eval", "--changed", "HEAD")[0] == 0
    with (repository.path / path).open("a") as file:
        file.write("Be brief.\n")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD", "--json", "r.json")
    assert (code, report(repository.path / "r.json")["unproved"]) == (3, [name])
    assert f"`{name}` changed, and no case loads it." in out


def test_changed_prompt_without_any_case_is_no_evidence(capsys: Capture, repository: SmallRepository) -> None:
    workflow = WORKFLOW.replace("slack.mention", "slack.direct")
    (repository.path / "agents" / "other.yaml").write_text(workflow)
    (repository.path / "agents" / "other.md").write_text("Help others.\n")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD")
    assert (code, "`agents/other.md` changed, and no case loads it." in out) == (3, True)


def test_whole_suite_lists_the_texts_that_no_case_loads(capsys: Capture, repository: SmallRepository) -> None:
    names = {"--json": "r.json", "--junit": "r.xml", "--markdown": "r.md", "--html": "r.html"}
    code, out, _ = gofer(capsys, "eval", *(word for pair in names.items() for word in pair))
    line = "2 of 4 prompts and skills are loaded by no case: skills/tone, subagents/think."
    assert (code, line in out) == (0, True)
    for name in names.values():
        assert line in (repository.path / name).read_text()
    assert "are loaded by no case" not in gofer(capsys, "eval", "restarted")[1]
