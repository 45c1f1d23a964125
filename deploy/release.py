"""The check before a release, and its notes: `python deploy/release.py v0.2.0` prints the section of the changelog.

Exit code 1: the tag is not the version of pyproject.toml, or the changelog has no dated section of that version.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_HEADING = re.compile(r"^## (?P<version>\S+)(?: - (?P<day>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def notes(tag: str, project: str, changelog: str) -> str:
    """Return the section of the changelog for a tag such as `v0.2.0`. Raises ValueError with one sentence."""
    version = str(tomllib.loads(project)["project"]["version"])
    if tag != f"v{version}":
        raise ValueError(f"The tag is {tag}, and pyproject.toml has the version {version}; make both equal.")
    headings = list(_HEADING.finditer(changelog))
    for at, heading in enumerate(headings):
        if heading["version"] == version:
            if heading["day"] is None:
                raise ValueError(f"CHANGELOG.md has no day for {version}; write `## {version} - YYYY-MM-DD`.")
            end = headings[at + 1].start() if at + 1 < len(headings) else len(changelog)
            return changelog[heading.end() : end].strip()
    raise ValueError(
        f"CHANGELOG.md has no section for {version}; rename `## Unreleased` to `## {version} - YYYY-MM-DD`."
    )


def main(arguments: Sequence[str]) -> int:
    """Print the notes of the release."""
    try:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        print(notes(arguments[0], project, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
