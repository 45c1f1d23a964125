"""The import of a company's modules against a package, in a process that has its libraries and no others.

Python runs this module as a program, too, in which `gofer` is that of the package.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.tools.company import read_company, unusable
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.script_module import Modules
from gofer.workflows.script_source import FOLDER

_MISSING = re.compile(r"No module named '(\w+)")


def refuse_failures(package: Path, libraries: Path, python: str) -> None:
    """Raise ConfigError if a module of `tools/` or `coordinators/` cannot be imported against a package.

    `libraries` is the folder with the libraries of the package for this machine, and `python` an interpreter for them.
    """
    # Like Lambda: no libraries of the interpreter, and no variables of this process.
    path = os.pathsep.join(str(folder.resolve()) for folder in (libraries, package))
    words = [python, "-S", "-s", "-P", "-B", __file__, str(package.resolve())]
    done = subprocess.run(  # noqa: S603 - own words, no shell
        words, env={"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise ConfigError(f"The modules of the company could not be imported with {python}; its output is above.")
    if failed := done.stdout.splitlines():
        raise ConfigError(_refusal(failed[0]))


def _refusal(failed: str) -> str:
    """Return the sentence for the line of a module that cannot be imported."""
    file = failed.partition(":")[0]
    if missing := _MISSING.search(failed):
        return (
            f"{failed}, because the package of the worker lacks it. The author of {file} must add the package of "
            f"`{missing[1]}` to `dependencies` in pyproject.toml, and run `gofer upgrade`."
        )
    return f"{failed}, with the libraries of the package of the worker. The author of {file} must correct it."


def _failures(root: Path) -> Iterator[str]:
    """Yield the file, line and reason of each module that cannot be imported."""
    yield from map(str, read_company(root, {}).failed.values())
    paths = sorted((root / FOLDER).glob("*.py"))
    texts = {path.stem: read_text(path)[0] or "" for path in paths}
    modules = Modules(texts)
    for name in texts:
        try:
            modules.load(name)
        except BaseException as error:  # noqa: BLE001 - a module may also leave the process
            yield str(unusable(error, name, texts, FOLDER))


def main(words: Sequence[str]) -> None:
    """Print a line for each module of the package in `words` that cannot be imported."""
    with contextlib.redirect_stdout(sys.stderr):
        failed = [" ".join(line.split()) for line in _failures(Path(words[0]))]
    sys.stdout.writelines(f"{line}\n" for line in failed)


if __name__ == "__main__":
    main(sys.argv[1:])
