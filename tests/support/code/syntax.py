"""The syntax of Python files, parsed once for all tests of a process."""

import ast
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path


def nodes(path: Path) -> Sequence[ast.AST]:
    """Return all syntax nodes of a file in the order of `ast.walk`, so the module is the first."""
    return _nodes(path.read_bytes())


def imports(path: Path) -> Sequence[ast.Import | ast.ImportFrom]:
    """Return all imports of a file, those within functions included."""
    return _imports(path.read_bytes())


def called(path: Path) -> Set[str]:
    """Return the functions that a file calls, as they are written: `module.function`."""
    return _called(path.read_bytes())


# By content instead of path: packages of functions hold copies, and tests change copies.
@cache
def _nodes(source: bytes) -> Sequence[ast.AST]:
    return list(ast.walk(ast.parse(source)))


@cache
def _imports(source: bytes) -> Sequence[ast.Import | ast.ImportFrom]:
    return [node for node in _nodes(source) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def _called(source: bytes) -> Set[str]:
    return {ast.unparse(node.func) for node in _nodes(source) if isinstance(node, ast.Call)}
