"""The installation of another version: what is refused before anything is installed."""

import zipfile
from pathlib import Path

import pytest

from gofer.app.new_repository.installing import install
from gofer.values.errors import ConfigError


@pytest.mark.parametrize("wanted", ["latest", "../gofer", "gofer==1.0", "--index-url=x", "1.0; rm"])
def test_other_words_than_a_wheel_or_a_version_are_refused(wanted: str) -> None:
    with pytest.raises(ConfigError, match="neither the path of a wheel nor a version"):
        install(wanted)


def test_missing_wheel_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gofer-9\.whl does not exist"):
        install(str(tmp_path / "gofer-9.whl"))


def test_wheel_of_another_project_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other-1.whl", "w") as opened:
        opened.writestr("other/__init__.py", "")
    with pytest.raises(ConfigError, match="no wheel of Gofer"):
        install(str(tmp_path / "other-1.whl"))
