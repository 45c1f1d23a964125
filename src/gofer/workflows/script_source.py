"""The Python of a script: its file in `coordinators/`, and the neighbours it imports."""

import ast
import hashlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from gofer.values.canonical_json import encode
from gofer.workflows.file_text import read_text

FOLDER = "coordinators"
"""Where scripts stand, beside the folder of the workflow files."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script as it is now. Code is live: a run that goes on does so with the code of its worker."""

    file: str
    """`coordinators/<name>.py`, as the workflow names it."""
    sources: Mapping[str, str]
    """The text of each module by its name in `coordinators`: its own, and those it imports from there."""

    @property
    def module(self) -> str:
        """The name of its own module."""
        return PurePosixPath(self.file).stem

    @property
    def sha256(self) -> str:
        """The hash of all of it."""
        return hashlib.sha256(encode(self.sources)).hexdigest()


def load_script(root: Path, file: str) -> Script:
    """Return the script of a file below `root`. Raises ValueError that says what is wrong with it."""
    name = script_name(file)
    if name is None:
        raise ValueError(f"a script is named as {FOLDER}/<name>.py, with a-z, 0-9 and _")
    sources: dict[str, str] = {}
    wanted = [name]
    while wanted:
        module = wanted.pop()
        text, _ = read_text(root / FOLDER / f"{module}.py")
        if text is None:
            raise ValueError(f"{FOLDER}/{module}.py cannot be read as text; create it or correct its name")
        sources[module] = text
        wanted += [found for found in neighbours(_parsed(module, text)) if found not in {*sources, *wanted}]
    return Script(file, sources)


def script_name(file: str) -> str | None:
    """Return the module that `coordinators/<name>.py` names; None for anything else."""
    path = PurePosixPath(file)
    plain = path.as_posix() == file and path.parent.as_posix() == FOLDER and path.suffix == ".py"
    if plain and path.stem.isidentifier() and path.stem.isascii():
        return path.stem
    return None


def neighbours(tree: ast.Module, folder: str = FOLDER) -> Iterator[str]:
    """Yield the modules of its own folder that a module imports."""
    for node in nodes(tree):
        match node:
            case ast.Import(names=names):
                parts = (alias.name.split(".") for alias in names)
                yield from (found[1] for found in parts if found[0] == folder and len(found) > 1)
            case ast.ImportFrom(module=str(module), level=0) if module == folder:
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0) if module.startswith(f"{folder}."):
                yield module.split(".")[1]
            case _:
                pass


@lru_cache(maxsize=64)
def parse(text: str) -> ast.Module:
    """Return the syntax tree of a module, which no caller changes: that of the same text is the same.

    Raises SyntaxError; ValueError, RecursionError or MemoryError for odd ones.
    """
    with warnings.catch_warnings():
        # What Python only warns of is no mistake.
        warnings.simplefilter("ignore")
        return ast.parse(text)


@lru_cache(maxsize=64)
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return every node of a tree; each that looks through it asks again."""
    return tuple(ast.walk(tree))


def _parsed(module: str, text: str) -> ast.Module:
    try:
        return parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else 1
        raise ValueError(f"{FOLDER}/{module}.py is no Python in line {line}") from error
