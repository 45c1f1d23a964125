"""docs/write-a-tool.md, followed literally: files written, edits made, commands typed, their output compared."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from company import ROOT
from serving import free_port

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "8750"
"""The port that the guide names; here it stands for a free one."""
CHECKED_OUT = ("AGENTS.md", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml")
CHECKED_OUT += ("agents", "coordinators", "docs", "skills", "src", "subagents", "tests")


@dataclass
class Terminal:
    """A shell in a repository; what is left running in the background goes on saying things."""

    folder: Path
    left_running: list[int] = field(default_factory=list)
    read: int = 0

    def type(self, commands: str) -> None:
        """Types commands that have to come out well."""
        self.read = self.output.stat().st_size if self.output.exists() else 0
        # No variable of this machine's, so that no account is used; `python` and `gofer` are those of this test.
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GOFER_DATA": str(self.folder / "state"),
        }
        with self.output.open("ab") as out, self.complaints.open("ab") as err:
            shell = subprocess.Popen(
                ["bash", "-ec", commands], cwd=self.folder, env=environment, stdout=out, stderr=err, process_group=0
            )
        if commands.endswith("&\n"):
            self.left_running.append(shell.pid)
        assert shell.wait(60) == 0, f"{commands}\n{self.says()}\n{self.complaints.read_text()}"

    def says(self) -> str:
        """What was said since the last commands were typed."""
        return self.output.read_bytes()[self.read :].decode()

    def will_have_said(self, text: str) -> bool:
        """Whether it says so, at once or soon."""
        until = time.monotonic() + 20
        while self.says() != text and time.monotonic() < until:
            time.sleep(0.02)
        return self.says() == text

    @property
    def output(self) -> Path:
        return self.folder.parent / "output"

    @property
    def complaints(self) -> Path:
        return self.folder.parent / "complaints"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a copy of this repository."""
    folder = tmp_path / "gofer"
    folder.mkdir()
    for name in CHECKED_OUT:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder)
        else:
            # With bytecode, as a checkout that was used before has it: else each command compiles all of it again.
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("broken"))
    made = Terminal(folder)
    yield made
    for group in made.left_running:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def edit(file: Path, change: str) -> None:
    """Makes a change that is shown as lines with +, - and the lines around them, which have to stand there once."""
    lines = change.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -\n")
    after = "".join(line[1:] for line in lines if line[0] in " +\n")
    text = file.read_text()
    assert text.count(before) == 1, f"{file} does not hold once:\n{before}"
    file.write_text(text.replace(before, after))


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
