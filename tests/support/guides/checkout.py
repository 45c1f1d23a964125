"""A checkout of this repository, or that of a company, with a shell in which a guide can be followed literally."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.app.new_repository.writing import Asked, write_repository
from support.app.company import ROOT

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block of a guide: its language, the file that it is written to, and its text."""
CHECKED_OUT = (
    "AGENTS.md",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "template.yaml",
    "evals/eval.schema.json",
    "evals/payloads",
)
CHECKED_OUT += ("agents", "coordinators", "deploy", "docs", "handlers", "locks", "skills", "src", "subagents", "tests")
UNREAD = ("broken", "frozen", "unit", "decisions")
"""Folders that no command of a guide reads."""


def shell_blocks(guide: str, heading: str) -> list[str]:
    """Return the shell blocks of a section of a guide."""
    section = re.split(r"^##+ ", guide.split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    return [text for kind, _, text in FENCE.findall(section) if kind == "sh"]


@dataclass
class Terminal:
    """A shell in a repository; background processes may continue to print."""

    folder: Path
    programs: Path = field(default=Path(sys.executable).parent)
    """The folder with the program `gofer`; by default it starts a new interpreter."""
    left_running: list[int] = field(default_factory=list)
    read: int = 0

    def type(self, commands: str) -> None:
        """Type commands that must succeed."""
        code = self.exit_code(commands)
        assert code == 0, f"{commands}\n{self.says()}\n{self.complaints.read_text()}"

    def exit_code(self, commands: str) -> int:
        """Type commands and return the exit code of the last one, or of the first that failed."""
        self.read = self.output.stat().st_size if self.output.exists() else 0
        # Without this machine's variables, so that no account is used; `python` is that of this test.
        environment = {
            "PATH": f"{self.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
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
        return shell.wait(240)

    def follow(self, guide: str) -> None:
        """Follow a guide literally: write its files, make its edits, type its commands and compare their output."""
        for kind, name, text in FENCE.findall(guide):
            file = self.folder / name
            match kind:
                case "diff":
                    edit(file, text)
                case "sh":
                    self.type(text)
                case "text":
                    assert self.will_have_said(text), self.says()
                case _:
                    assert not file.exists()
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(text)

    def says(self) -> str:
        """Return the output since the last commands were typed."""
        return self.output.read_bytes()[self.read :].decode()

    def will_have_said(self, text: str) -> bool:
        """Return whether the output has this text, now or soon."""
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


def edit(file: Path, change: str) -> None:
    """Apply a change given as lines with +, - and context, which must occur exactly once."""
    lines = change.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -\n")
    after = "".join(line[1:] for line in lines if line[0] in " +\n")
    text = file.read_text()
    assert text.count(before) == 1, f"{file} does not hold once:\n{before}"
    file.write_text(text.replace(before, after))


def checkout(folder: Path) -> Terminal:
    """Copy this repository into a new folder and return a terminal there, whose `gofer` runs the copied source."""
    folder.mkdir()
    for name in CHECKED_OUT:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        else:
            # With bytecode, like a checkout in use: otherwise each command would compile everything again.
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*UNREAD))
    return Terminal(folder)


def company_repository(folder: Path, workflows: Sequence[str], programs: Path) -> Terminal:
    """Write a company's own repository with some shipped workflows, and return a terminal there.

    `programs` is the folder with the program `gofer`.
    """
    write_repository(Asked(folder, workflows))
    return Terminal(folder, programs)
