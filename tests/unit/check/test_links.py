"""Hosts of the key `links`: a host of many companies is a mistake."""

from pathlib import Path

from gofer.check.links import check_links
from gofer.workflows.yaml_source import read_source


def test_shared_host_is_a_mistake_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "defaults.yaml"
    file.write_text("links:\n  - wiki.example.com\n  - github.com\n")
    (mistake,) = check_links(read_source(file), ["wiki.example.com", "github.com"])
    assert mistake.place.line == 3
    assert "github.com" in mistake.message
