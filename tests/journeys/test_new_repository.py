"""A company's own repository: the tutorial from an empty folder on, with the wheel, its commands and their output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import Asked, write_repository
from support.app.company import ROOT
from support.app.installed import environment, wheel

GUIDE = ROOT / "docs" / "start.md"
_FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MADE_ALREADY = (
    "make wheel\n",
    "python3 -m venv .venv\n",
    ".venv/bin/pip install --quiet --require-hashes -r requirements.lock\n",
)
"""Commands of the guide that ask a package registry. The journey has built and installed the wheel beforehand."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the built wheel in `dist/`, and beside it the environment that it is installed in."""
    folder = tmp_path_factory.mktemp("start")
    built = wheel(folder / "gofer" / "dist")
    environment(folder / "installed", built)
    return folder / "gofer"


def typed(folder: Path, commands: str, programs: Path) -> str:
    """Type commands in a folder; return what they print."""
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "GIT_AUTHOR_NAME": "a"}
    environment |= {
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        ["bash", "-ec", commands], check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_first_ten_minutes_go_as_the_guide_says(clone: Path) -> None:
    installed = clone.parent / "installed"
    here = clone
    shown = ""
    for kind, text in _FENCE.findall(GUIDE.read_text()):
        if kind == "text":
            assert shown.endswith(text)
            continue
        commands = text.replace("uvx --from dist/gofer-*.whl gofer", "gofer")
        for command in MADE_ALREADY:
            commands = commands.replace(command, "")
        if commands.startswith("cd ../acme-gofer\n"):
            commands = commands.removeprefix("cd ../acme-gofer\n")
            here = clone.parent / "acme-gofer"
            (here / ".venv").symlink_to(installed)
        shown = typed(here, commands, installed / "bin")
    lock = (here / "requirements.lock").read_text()
    assert re.search(
        r"^\./vendor/gofer-[\d.]+-py3-none-any\.whl \\\n    --hash=sha256:[0-9a-f]{64}$", lock, re.MULTILINE
    )
    assert "://" not in lock
    assert typed(here, "git status --porcelain", installed / "bin") == ""


def test_workflow_of_the_pipeline_passes_the_linter(tmp_path: Path) -> None:
    write_repository(Asked(tmp_path / "acme", STARTERS))
    zizmor = Path(sys.executable).with_name("zizmor")
    pipelines = str(tmp_path / "acme" / ".github" / "workflows")
    subprocess.run([str(zizmor), "--offline", "--no-progress", pipelines], check=True)
