"""The sections of the changelog that an upgrade prints."""

from pathlib import Path

import pytest

from gofer.app.new_repository.changelog import changes_since

TEXT = "# Changelog\n\n## 0.3.0 - 2027-03-01\n\n- c\n\n## [0.2.0]\n\n- b\n\n## 0.1.0\n\n- a\n"


@pytest.mark.parametrize(
    ("version", "lines"),
    [("0.3.0", []), ("0.2.0", ["## 0.3.0 - 2027-03-01", "", "- c", ""]), ("9.9.9", [])],
)
def test_sections_since_a_version(version: str, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(TEXT)
    assert changes_since(tmp_path, version) == lines
