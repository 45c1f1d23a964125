"""The wheel of an earlier version of Gofer, which shipped other texts."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from support.app.company import ROOT
from support.app.installed import wheel

EARLIER = (
    ("pyproject.toml", '\nversion = "0.1.0"', '\nversion = "0.0.9"'),
    ("src/gofer/__init__.py", '"0.1.0"', '"0.0.9"'),
    ("agents/preamble.md", "Gofer", "GOFER"),
    ("agents/answer-here.md", "thread", "conversation"),
    ("agents/file-ticket.yaml", "usd: 0.30", "usd: 0.10"),
    ("agents/defaults.yaml", "minutes: 5", "minutes: 4"),
    ("skills/incident-runbooks/SKILL.md", "During an incident", "In an incident"),
)
"""What the earlier version wrote in place of words of this one, by file."""


def earlier_wheel(source: Path, texts: Sequence[tuple[str, str, str]] = EARLIER) -> Path:
    """Build an earlier version, which wrote other texts, from a copy of this checkout; return the path of its wheel."""
    shipped = (
        ".agents",
        ".ci",
        ".github",
        "agents",
        "subagents",
        "skills",
        "coordinators",
        "evals",
        "docs",
        "locks",
        "handlers",
        "deploy",
    )
    for name in ("src", *shipped):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "images"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "template.yaml"):
        shutil.copyfile(ROOT / name, source / name)
    for path, new, old in texts:
        text = (source / path).read_text()
        assert new in text
        (source / path).write_text(text.replace(new, old, 1))
    return wheel(source / "dist", source)
