"""A copy of `.agents` with stand-in programs, as it would be in another repository."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
STAND_IN = """#!/bin/bash
printf '%s\\0' "${{0##*/}}" "$@" >> '{record}/calls'
env -0 > '{record}/environment'
cat > '{record}/input'
"""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that got a copy of `.agents`, with programs beside it that record their calls."""

    root: Path

    def execute(
        self, words: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program of `.agents/bin` with arguments."""
        path = f"{self.root}/.agents/bin:{self.root}/programs:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(self.root / "home"), **(variables or {})}
        command = [str(self.root / ".agents" / "bin" / words[0]), *words[1:]]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def called(self) -> list[str]:
        """Return the name and the arguments of all calls."""
        calls = self.root / "record" / "calls"
        if not calls.exists():
            return []
        return calls.read_bytes().decode().split("\0")[:-1]

    def environment(self) -> dict[str, str]:
        """Return the environment of the last call."""
        lines = (self.root / "record" / "environment").read_text().split("\0")[:-1]
        return dict(line.split("=", 1) for line in lines)


def copy_agents(root: Path) -> Repository:
    """Make a repository with a copy of `.agents` and stand-in programs."""
    shutil.copytree(ROOT / ".agents", root / ".agents")
    (root / "record").mkdir()
    (root / "home").mkdir()
    (root / "programs").mkdir()
    for name in ("gofer", "aws", "curl"):
        file = root / "programs" / name
        file.write_text(STAND_IN.format(record=root / "record"))
        file.chmod(0o755)
    return Repository(root)
