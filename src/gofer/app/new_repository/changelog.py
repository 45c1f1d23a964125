"""The changelog of Gofer: its sections since a version."""

import re
from collections.abc import Sequence
from pathlib import Path

_SECTION = re.compile(r"^## (.+)$")


def changes_since(folder: Path, version: str) -> Sequence[str]:
    """Return the lines of the changelog in `folder` above the section of a version; none if it has no such section."""
    lines = (folder / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    headings = [at for at, line in enumerate(lines) if _SECTION.match(line)]
    earlier = [at for at in headings if _version(lines[at]) == version]
    if not earlier:
        return []
    return lines[headings[0] : earlier[0]]


def _version(heading: str) -> str:
    """Return the version of a heading such as `## 0.2.0 - 2027-01-11` or `## [0.2.0]`."""
    return heading.removeprefix("## ").split(" ")[0].strip("[]")
