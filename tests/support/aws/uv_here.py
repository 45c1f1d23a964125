"""A program `uv` that installs the locked libraries for Lambda from this environment, so that no registry is asked.

It names an interpreter that makes no bytecode, because the bytecode of this environment comes along.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from gofer.app.new_repository.locking import OWN_LOCK
from gofer.app.packaging.libraries import SERVICES, copy_installed
from support.aws.function_packages import borrow_bytecode, linked

_REAL = os.environ["UV_HERE_UV"]
"""The path of the real program."""


def main(words: Sequence[str]) -> None:
    """Run the command in the words of `gofer package`, or else the real program."""
    match words:
        case ["python", "find", _]:
            sys.stdout.write(f"{os.environ['UV_HERE_PYTHON']}\n")
        case ["pip", "install", *_] if "--target" in words:
            target = Path(words[words.index("--target") + 1])
            for lock in (Path(lock) for option, lock in pairwise(words) if option == "-r"):
                _install(lock, target)
            borrow_bytecode(target)
        case _:
            os.execv(_REAL, [_REAL, *words])


def _install(lock: Path, target: Path) -> None:
    if lock.name != OWN_LOCK:
        copy_installed(lock, target, SERVICES, linked)
        return
    # Its libraries are wheels of the repository.
    own = ["--offline", "--no-deps", "--require-hashes", "--target", str(target), "-r", str(lock)]
    subprocess.run([_REAL, "pip", "install", "-q", *own], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
