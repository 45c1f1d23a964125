"""The steps of docs/evals.md lead from nothing to a case that is played."""

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from support.app.command_line import gofer
from support.app.company import ROOT

pytestmark = pytest.mark.usefixtures("terminal")
PAGE = ROOT / "docs" / "evals.md"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    """The shipped workflows as the current folder, with the files that the page writes."""
    folder = tmp_path / "repository"
    for name in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / name, folder / name)
    for path, text in re.findall(r"```\w+ (\S+/\S+)\n(.*?)\n *```", PAGE.read_text(), re.DOTALL):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{dedent(text)}\n")
    monkeypatch.chdir(folder)
    return folder


def test_files_of_the_page_are_checked_recorded_and_played(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    assert gofer(capsys, "check", "evals/tickets.yaml")[0] == 0
    assert gofer(capsys, "eval", "tickets", "--record")[0] == 3
    assert (repository / "evals" / "answers" / "tickets.json").exists()
    code, out, err = gofer(capsys, "eval", "tickets")
    assert (code, err) == (0, "")
    assert out.startswith("1 passed (1 harness only)")


def test_system_of_a_company_is_checked_recorded_and_played(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    assert gofer(capsys, "check", "evals/lend.yaml", "tools/shed.py", "agents/lend.yaml")[0] == 0
    assert gofer(capsys, "eval", "lend", "--record")[0] == 3
    code, out, err = gofer(capsys, "eval", "lend")
    assert (code, err) == (0, "")
    assert out.startswith("2 passed (2 harness only)")
    rows = repository / "evals" / "rows" / "items.csv"
    rows.write_text(f"{rows.read_text()}saw,saw\n")
    code, out, _ = gofer(capsys, "eval", "lend/lend[saw]", "--record")
    assert (code, "grade ×1" in out) == (1, True)


def test_payload_without_json_names_the_eval_file_and_its_line(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    (repository / "evals" / "payloads" / "refund.json").write_text("{bad")
    code, out, err = gofer(capsys, "eval", "tickets")
    assert (code, out) == (2, "")
    assert "evals/tickets.yaml:6:24: This payload" in err


def test_folder_in_place_of_a_payload_is_called_a_folder(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    payload = repository / "evals" / "payloads" / "refund.json"
    payload.unlink()
    payload.mkdir()
    said = "evals/tickets.yaml:6:24: `payloads/refund.json` in evals/ is a folder. Write the path of a file in it."
    assert said in "".join(gofer(capsys, "check", "evals/tickets.yaml")[1:])
    code, _, err = gofer(capsys, "eval", "tickets")
    assert (code, said in err) == (2, True)


def test_broken_eval_file_does_not_stop_the_play_of_another(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    (repository / "evals" / "other.yaml").write_text("cases: [")
    code, out, _ = gofer(capsys, "eval", "tickets", "--record")
    assert (code, "1 no evidence" in out) == (3, True)
    for words in ([], ["other"], ["refund-becomes-a-bug"]):
        code, _, err = gofer(capsys, "eval", *words)
        assert (code, "evals/other.yaml:2:1: An earlier bracket is not closed." in err) == (2, True)


def test_missing_script_is_named_by_its_file(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    (repository / "evals" / "scripts" / "tickets.yaml").unlink()
    code, out, _ = gofer(capsys, "eval", "tickets", "--record")
    assert code == 3
    assert "Write the answer into evals/scripts/tickets.yaml" in out
