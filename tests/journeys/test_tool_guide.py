"""docs/write-a-tool.md, followed literally: files written, edits made, commands typed, their output compared."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.serve_process import free_port
from support.guides.checkout import FENCE, Terminal, checkout, edit

PORT = "8750"
"""The port that the guide names; here it stands for a free one."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a copy of this repository."""
    made = checkout(tmp_path / "gofer")
    yield made
    for group in made.left_running:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def promises_broken_are_noticed(terminal: Terminal) -> None:
    """A page without its key and a look that finds nothing fail the test that the guide shows."""
    folder = terminal.folder / "src" / "gofer" / "tools" / "oncall"
    for name, kept in (("page.py", ", key=call.key"), ("note.py", ' if note.get("reference") == call.key')):
        text = (folder / name).read_text()
        assert kept in text
        (folder / name).write_text(text.replace(kept, "" if name == "page.py" else " if False"))
    terminal.type("! python -m pytest tests/unit/tools/test_oncall.py -k killed\n")
    assert "2 failed" in terminal.says()


def test_the_guide_to_a_tool_does_what_it_says(terminal: Terminal) -> None:
    guide = (ROOT / "docs" / "write-a-tool.md").read_text().replace(PORT, str(free_port()))
    tried: list[str] = []
    for kind, name, text in FENCE.findall(guide):
        file = terminal.folder / name
        match kind:
            case "diff":
                edit(file, text)
            case "sh":
                terminal.type(text)
                tried += re.findall(r"\[100%\]", terminal.says())
            case "text":
                assert terminal.will_have_said(text), terminal.says()
            case _:
                assert not file.exists()
                file.parent.mkdir(exist_ok=True)
                file.write_text(text)
    # Its own tests and those that enumerate tools were run, and what it changed is what an editor's schema lists.
    assert len(tried) == 2
    promises_broken_are_noticed(terminal)
    assert '"oncall_page"' in (terminal.folder / "agents" / "workflow.schema.json").read_text()
