"""The version of Gofer, Python and the system, in one line."""

import platform

import pytest

from gofer.app.new_repository.shipped import gofer_version
from gofer.cli.main import main


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version_is_one_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"gofer {gofer_version()}, Python {platform.python_version()}, ")
    assert line.count("\n") == 1
