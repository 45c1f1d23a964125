"""Gofer as a company installs it: its wheel in a virtual environment of its own."""

import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.util import cache_from_source
from pathlib import Path

from gofer.app.new_repository.locking import locked
from support.app.company import ROOT

SHIPPED = ("gofer", "gofer_pytest", "gofer_simulators")
"""The packages of the wheel."""


def wheel(folder: Path, source: Path = ROOT) -> Path:
    """Build the wheel of this checkout, or of another folder, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def environment(
    folder: Path, built: Path, parts: Sequence[str] | None = None, interpreter: str = sys.executable
) -> Path:
    """Install a wheel into a new environment, with the dependencies of this one; return the folder of its programs.

    The package registries are not asked: the dependencies are those of the environment that runs the tests, or of them
    only those of some parts of Gofer.
    """
    subprocess.run([interpreter, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install(python.parent, built)
    (site,) = folder.glob("lib/python*/site-packages")
    if parts is None:
        (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        return python.parent
    for name in _names(parts):
        link_distribution(name, site)
    return python.parent


def _names(parts: Sequence[str]) -> Sequence[str]:
    """Return the names of the distributions that the parts need, as their lock has them."""
    lock = (ROOT / "locks" / "runtime.lock").read_text()
    return re.findall(r"^([A-Za-z0-9._-]+)==", locked(lock, requires("gofer") or (), parts), re.MULTILINE)


def link_distribution(name: str, site: Path) -> None:
    """Make a distribution of this environment importable from another folder, without any other one.

    Its existing bytecode comes along.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        # It is for another platform or version of Python.
        return
    for path in found.files or ():
        if path.parts[0] == "..":
            continue
        _link(Path(str(found.locate_file(path))), site / path)
        if path.suffix == ".py":
            compiled = Path(cache_from_source(str(found.locate_file(path))))
            if compiled.exists():
                _link(compiled, Path(cache_from_source(str(site / path))))


def _link(file: Path, link: Path) -> None:
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)


def install(programs: Path, built: Path) -> None:
    """Install a wheel into an environment, in place of an earlier version."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "install", "-q", "--offline", "--no-deps", "--reinstall"]
    subprocess.run([*command, "--python", str(programs / "python"), str(built)], check=True)
    (site,) = programs.parent.glob("lib/python*/site-packages")
    _borrow_bytecode(site)


def _borrow_bytecode(site: Path) -> None:
    """Copy the bytecode of this checkout to the installed modules with the same text: compiling takes seconds.

    Bytecode names the time and the size of the source that it belongs to, in its bytes 8 to 16.
    """
    for module in (module for package in SHIPPED for module in (site / package).rglob("*.py")):
        source = ROOT / "src" / module.relative_to(site)
        compiled = Path(cache_from_source(str(source)))
        if not compiled.exists() or source.read_bytes() != module.read_bytes():
            continue
        found = compiled.read_bytes()
        written, size = int(source.stat().st_mtime), source.stat().st_size
        if found[4:16] != struct.pack("<III", 0, written, size):
            continue
        target = Path(cache_from_source(str(module)))
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(found[:8] + struct.pack("<I", int(module.stat().st_mtime)) + found[12:])
