"""The version of Gofer, Python and the system in one line, and the systems that Gofer runs on."""

import platform
import subprocess
import sys

import pytest

from gofer.app.new_repository.shipped import gofer_version
from gofer.cli.main import main


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version_is_one_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"gofer {gofer_version()}, Python {platform.python_version()}, ")
    assert line.count("\n") == 1


def test_command_names_wsl_on_windows() -> None:
    program = "import sys; sys.platform = 'win32'; import gofer.cli.main"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "gofer: Gofer needs Linux or macOS. On Windows, install WSL (`wsl --install`), and run Gofer in it.\n"
    )
