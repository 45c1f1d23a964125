"""Gofer as a company installs it: its wheel in a virtual environment of its own."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from support.app.company import ROOT


def wheel(folder: Path, source: Path = ROOT) -> Path:
    """Build the wheel of this checkout, or of another folder, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def environment(folder: Path, built: Path, interpreter: str = sys.executable) -> Path:
    """Install a wheel into a new environment, with the dependencies of this one; return the folder of its programs.

    The package registries are not asked: the dependencies are those of the environment that runs the tests.
    """
    subprocess.run([interpreter, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install(python.parent, built)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python.parent


def install(programs: Path, built: Path) -> None:
    """Install a wheel into an environment, in place of an earlier version."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "install", "-q", "--offline", "--no-deps", "--reinstall"]
    subprocess.run([*command, "--python", str(programs / "python"), str(built)], check=True)
