"""docs/write-a-tool.md, followed literally: files written, commands typed, their output compared."""

import json
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from support.app.company import ROOT
from support.guides.checkout import Terminal, checkout, company_repository

GUIDE = (ROOT / "docs" / "write-a-tool.md").read_text()


def company(folder: Path, programs: Path) -> Terminal:
    """Return a terminal in the empty folder of a company that installed Gofer."""
    folder.mkdir()
    (folder / "src").symlink_to(ROOT / "src")
    return Terminal(folder, programs)


def test_tool_guide_works_as_written_in_this_repository(tmp_path: Path) -> None:
    terminal = checkout(tmp_path / "gofer")
    terminal.follow(GUIDE)
    terminal.type("gofer schema\n")
    assert '"oncall_page"' in terminal.says()


@pytest.mark.rehearsal(
    "tests/journeys/test_tool_guide.py::test_tool_guide_works_as_written_in_this_repository",
)
def test_tool_guide_works_as_written_in_a_repository_of_a_company(tmp_path: Path, forked_gofer: Path) -> None:
    terminal = company_repository(tmp_path / "acme", STARTERS, forked_gofer)
    terminal.follow(GUIDE)


@pytest.mark.rehearsal(
    "tests/journeys/test_tool_guide.py::test_tool_guide_works_as_written_in_this_repository",
)
def test_tool_guide_works_as_written_in_an_empty_folder(tmp_path: Path, forked_gofer: Path) -> None:
    terminal = company(tmp_path / "gofer", forked_gofer)
    terminal.follow(GUIDE)
    assert_missing_idempotency_key_fails_the_guides_test(terminal)
    assert_missing_place_is_reported(terminal)


def assert_missing_idempotency_key_fails_the_guides_test(terminal: Terminal) -> None:
    file = terminal.folder / "tools" / "oncall.py"
    text = file.read_text()
    kept = ', {"Idempotency-Key": call.key}'
    assert kept in text
    file.write_text(text.replace(kept, ""))
    assert terminal.exit_code("python -m pytest -q tests/test_oncall.py\n") == 1
    assert "test_a_page_that_lost_its_answer_happens_once" in terminal.says()
    file.write_text(text)


def assert_missing_place_is_reported(terminal: Terminal) -> None:
    file = terminal.folder / "tools" / "oncall.py"
    file.write_text(file.read_text().replace("    place=team_place,\n", ""))
    assert terminal.exit_code("gofer check --json tools/oncall.py\n") == 1
    (found,) = json.loads(terminal.says())
    assert found["rule"] == "tool-declaration"
    assert found["message"] == "The tool oncall_page writes to oncall and does not declare its place."
    assert file.read_text().splitlines()[found["line"] - 1].startswith("async def oncall_page")
