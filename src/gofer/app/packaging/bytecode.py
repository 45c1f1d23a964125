"""The bytecode of a package, which saves compiling at each cold start."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from gofer.app.packaging.archive import files
from gofer.values.errors import ConfigError


def compile_all(target: Path, python: str, own: Sequence[str]) -> Sequence[Path]:
    """Compile the modules of a package; return the paths in it of library modules that are not for this Python.

    Some libraries contain a module for Python 2 that they never import, which gets no bytecode. Every other failure,
    and each in one of the folders `own`, raises ConfigError.
    """
    # Unchecked hashes, because the files never change, and the archive loses their modification times.
    words = [python, "-m", "compileall", "-qq", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    words += ["-s", str(target), "-p", "/var/task", str(target)]
    if not subprocess.run(words, check=False).returncode:  # noqa: S603 - Python on our own files
        return []
    left = [path for path in files(target) if path.suffix == ".py" and not _has_bytecode(path)]
    wrong = [path for path in left if path.relative_to(target).parts[0] in own or _is_valid(path, python)]
    if wrong or not left:
        named = ", ".join(str(path) for path in wrong) or str(target)
        raise ConfigError(f"{named} could not be compiled: correct the file, or make room and its folder writable.")
    return [path.relative_to(target) for path in left]


def _has_bytecode(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))


def _is_valid(path: Path, python: str) -> bool:
    """Return whether a module has the syntax of this Python."""
    program = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
    words = [python, "-c", program, str(path)]
    return not subprocess.run(words, capture_output=True, check=False).returncode  # noqa: S603 - it is only parsed
