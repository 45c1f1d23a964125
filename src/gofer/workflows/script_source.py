"""The source of a script: its file in `coordinators/`, and the modules of that folder it imports."""

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
"""The folder of scripts, beside the folder of the workflow files."""


@dataclass(frozen=True, slots=True)
class Script:
    """The current source of a script. A resumed run uses the code that its worker has, not the code it began with."""

    file: str
    """`coordinators/<name>.py`, as the workflow names it."""
    sources: Mapping[str, str]
    """The text of the script's module, and of each module it imports from `coordinators/`, by name."""

    @property
    def module(self) -> str:
        """The name of the script's module."""
        return PurePosixPath(self.file).stem

    @property
    def sha256(self) -> str:
        """The hash of all sources."""
        return hashlib.sha256(encode(self.sources)).hexdigest()


def load_script(root: Path, file: str) -> Script:
    """Return the script of a file below `root`. Raises ValueError whose message says what is wrong with the script."""
    name = script_name(file)
    if name is None:
        raise ValueError(f"a script is a file {FOLDER}/<name>.py with a name of a-z, 0-9 and _")
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
    """Return the name in `coordinators/<name>.py`; None for any other path."""
    path = PurePosixPath(file)
    plain = path.as_posix() == file and path.parent.as_posix() == FOLDER and path.suffix == ".py"
    if plain and path.stem.isidentifier() and path.stem.isascii():
        return path.stem
    return None


def neighbours(tree: ast.Module, folder: str = FOLDER) -> Iterator[str]:
    """Yield the modules of `folder` that a module imports."""
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
    """Return the syntax tree of a module. It is cached, so callers must not change it.

    Raises SyntaxError, and ValueError, RecursionError or MemoryError for texts that the parser cannot handle.
    """
    with warnings.catch_warnings():
        # Warnings of the parser are not mistakes.
        warnings.simplefilter("ignore")
        return ast.parse(text)


@lru_cache(maxsize=64)
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return every node of a tree. Cached because many checks walk the same tree."""
    return tuple(ast.walk(tree))


def _parsed(module: str, text: str) -> ast.Module:
    try:
        return parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = 1
        if isinstance(error, SyntaxError):
            line = error.lineno
        raise ValueError(f"{FOLDER}/{module}.py is not valid Python in line {line}") from error
