"""The guides, followed literally: their files are written, their commands typed, their output compared."""

import re
import shutil
from pathlib import Path

import pytest
from pydantic_monty import Monty
from skills_ref.validator import validate

from company import ROOT
from gofer.cli.main import main
from gofer.workflows.load import load_catalog

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without workflows, and the recorded events of this one."""
    (tmp_path / "agents").mkdir()
    for name in ("defaults.yaml", "preamble.md"):
        shutil.copy(ROOT / "agents" / name, tmp_path / "agents")
    shutil.copytree(ROOT / "tests" / "events", tmp_path / "tests" / "events")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SLACK_BOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def follow(guide: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[int], str]:
    """The exit codes of a guide's commands, and what the last of them said."""
    said, codes = "", []
    for kind, file, text in FENCE.findall((ROOT / "docs" / guide).read_text()):
        if file:
            (repository / file).parent.mkdir(exist_ok=True, parents=True)
            (repository / file).write_text(text)
        elif kind == "sh":
            command, *words = text.split()
            assert command == "gofer"
            codes.append(main(words))
            said = capsys.readouterr().out
        else:
            assert re.sub(r"\b\d\d:\d\d\.", "NOW.", said) == text
    return codes, said


def test_the_guide_to_a_script_does_what_it_says(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert follow("write-a-script.md", repository, capsys)[0] == [1, 0, 0]


def test_the_guide_to_a_skill_does_what_it_says(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert follow("write-a-skill.md", repository, capsys)[0] == [1, 0, 0]
    home = repository / "skills" / "release-notes"
    assert validate(home) == []
    # Its script runs where scripts of skills run.
    script = (home / "scripts" / "next_version.py").read_text()
    with Monty() as pool, pool.checkout() as session:
        said: list[str] = []
        session.feed_run(script, print_callback=lambda _, text: said.append(text))
    assert "".join(said) == "4.18.0\n"
    loaded = load_catalog(repository / "agents").workflows["what-is-new"]
    assert "- `release-notes`: How we write release notes." in loaded.system
    assert "One line for each change" not in loaded.system


def test_the_guide_to_a_workflow_does_what_it_says(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes, said = follow("write-a-workflow.md", repository, capsys)
    assert codes == [1, 0, 0, 0]
    # The last command lists the run that the one before it made.
    assert re.search(r"^[0-9a-f]{24}  done .*  sum-up$", said, re.MULTILINE)
