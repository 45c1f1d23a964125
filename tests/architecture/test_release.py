"""A release: its tag, its notes, and a source distribution that makes the same wheel."""

import importlib.util
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from gofer import __version__
from gofer.evals.goldens.golden_reader import read_golden
from gofer.journal.entries import RunOwned
from support.app.company import ROOT
from support.app.installed import wheel

PROJECT = '[project]\nversion = "0.2.0"\n'
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2027-01-11\n\n- New.\n\n## 0.1.0 - 2026-12-01\n\n- First.\n"


def release() -> ModuleType:
    """Return the program deploy/release.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("release", ROOT / "deploy" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notes_are_the_section_of_the_version() -> None:
    assert release().notes("v0.2.0", PROJECT, CHANGELOG) == "- New."
    assert release().notes("v0.1.0", PROJECT.replace("0.2.0", "0.1.0"), CHANGELOG) == "- First."


@pytest.mark.parametrize(
    ("tag", "changelog", "sentence"),
    [
        ("v0.3.0", CHANGELOG, "The tag is v0.3.0, and pyproject.toml has the version 0.2.0"),
        ("v0.2.0", "## Unreleased\n", "has no section for 0.2.0"),
        ("v0.2.0", "## 0.2.0\n", "has no day for 0.2.0"),
    ],
)
def test_release_without_a_section_or_with_another_tag_is_refused(tag: str, changelog: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        release().notes(tag, PROJECT, changelog)


def test_changelog_begins_with_the_unreleased_changes() -> None:
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert headings[0] == "## Unreleased"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_shipped_goldens_were_recorded_with_this_version() -> None:
    for path in sorted((ROOT / "evals" / "goldens").glob("*.yaml")):
        for turn in read_golden(path).turns:
            owned = [one.entry for run in turn.journals for one in turn.entries(run) if isinstance(one.entry, RunOwned)]
            # Otherwise a changed request would be listed as one of this version, and would be no failure.
            assert {entry.gofer for entry in owned} == {__version__}, f"{path.name}: gofer golden --play --renew"


def test_source_distribution_makes_the_same_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path / "sdist")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = (tmp_path / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("gofer-*")
    assert not (source / "tests").exists()
    made, own = wheel(tmp_path / "made", source), wheel(tmp_path / "own")
    with zipfile.ZipFile(made) as one, zipfile.ZipFile(own) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
