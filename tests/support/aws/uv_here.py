"""A program `uv` that installs the locked libraries for Lambda from this environment, so that no registry is asked.

It names an interpreter that makes no bytecode, because the bytecode of this environment comes along.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from gofer.app.packaging.libraries import SERVICES, copy_installed
from support.aws.function_packages import borrow_bytecode, linked


def main(words: Sequence[str]) -> None:
    """Run the command in the words of `gofer package`, or else the real program."""
    match words:
        case ["python", "find", _]:
            sys.stdout.write(f"{os.environ['UV_HERE_PYTHON']}\n")
        case ["pip", "install", *_] if "--target" in words:
            target = Path(words[words.index("--target") + 1])
            for option, lock in pairwise(words):
                if option == "-r":
                    copy_installed(Path(lock), target, SERVICES, linked)
            borrow_bytecode(target)
        case _:
            uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
            os.execv(uv, [uv, *words])


if __name__ == "__main__":
    main(sys.argv[1:])
