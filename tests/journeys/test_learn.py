"""The eight steps of docs/learn.md, typed as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from support.app.company import ROOT

GUIDE = ROOT / "docs" / "learn.md"
FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"\b[0-9a-f]{24}\b")
NAMED = re.compile(r"^(.*)  # exit code ([0-9])$", re.MULTILINE)
"""A command whose exit code the page names."""


def typed(folder: Path, commands: str, programs: Path) -> str:
    """Return all that commands print in a shell. Each has to succeed, or to end with the exit code on the page."""
    environment = {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    script = NAMED.sub(r"\1 && exit 9 || [ $? = \2 ]", commands)
    done = subprocess.run(
        ["bash", "-ec", script],
        check=False,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout


def without_ids(text: str) -> str:
    """Return a text without the ids of runs and the times, which differ each time."""
    return re.sub(r"\b\d{4}-\d\d-\d\dT\S+Z", "TIME", re.sub(r"\b[0-9a-f]{8}\b", "RUN", text))


def test_eight_steps_print_as_the_page_says(tmp_path: Path, forked_gofer: Path) -> None:
    (first, *rest) = FENCE.findall(GUIDE.read_text())
    typed(tmp_path, first[1], forked_gofer)
    folder = tmp_path / "acme"
    run = ""
    shown = ""
    for kind, text in rest:
        if kind == "text":
            assert text.strip() in without_ids(shown), shown
            continue
        shown = typed(folder, text.replace("RUN", run), forked_gofer)
        run = run or RUN.findall(shown)[-1]
    assert "No mistakes." in shown
    # The script replaced the model, and its cases pass.
    assert "2 passed" in shown
    assert "chat" not in typed(folder, f"gofer trace {RUN.findall(shown)[-1]}", forked_gofer)
