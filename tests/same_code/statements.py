"""The statements of Python files, without docstrings, comments, imports and layout."""

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

IDENTIFIERS = frozenset({"id", "attr", "arg", "name", "asname", "kwd_attrs", "names", "rest"})
"""Fields of syntax trees that hold names people chose."""


@dataclass(frozen=True)
class Statement:
    """One top-level statement of a file."""

    file: str
    node: ast.stmt

    @cached_property
    def exact(self) -> str:
        """Return its syntax tree as text, names and strings included."""
        return ast.dump(self.node)

    @cached_property
    def skeleton(self) -> str:
        """Return its syntax tree as text, without names and without the text of strings."""
        return ast.dump(_Blank().visit(copy.deepcopy(self.node)))

    @cached_property
    def name(self) -> str:
        """Return the name that it defines; empty for a statement without a definition."""
        match self.node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name
            case _:
                return ""

    @property
    def label(self) -> str:
        """Return its place, for people."""
        return f"{self.file}: {self.name or ast.unparse(self.node)[:60]}"


def statements(sources: Mapping[str, str]) -> list[Statement]:
    """Return the statements of files, given by path; a file that is no Python is one statement."""
    return [Statement(file, node) for file, source in sorted(sources.items()) for node in _of(source)]


def _of(source: str) -> Iterator[ast.stmt]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        yield ast.Expr(ast.Constant(source.encode()))
        return
    yield from _WithoutProse().visit(tree).body


class _WithoutProse(ast.NodeTransformer):
    """Removes imports, which linters and type checkers hold, and docstrings; joins the parts of a text."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | ast.Pass | None:
        match node.value:
            case ast.Constant(value=str()):
                return None
            case _:
                return ast.Expr(self.visit(node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [self.visit(value) for value in node.values if isinstance(value, ast.FormattedValue)]
        text = "".join(str(value.value) for value in node.values if isinstance(value, ast.Constant))
        return ast.JoinedStr([ast.Constant(text), *values])

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        # An f-string without values is a plain string.
        return ast.JoinedStr([node]) if isinstance(node.value, str) else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.body:
            node.body = [ast.Pass()]
        return node


class _Blank(ast.NodeTransformer):
    """Removes the names and the text of strings."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = sorted((self.visit(value) for value in node.values[1:]), key=ast.dump)
        return ast.JoinedStr([ast.Constant(""), *values])

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in IDENTIFIERS & {*node._fields}:
            value = getattr(node, field)
            if isinstance(value, str):
                setattr(node, field, "_")
            elif isinstance(value, list) and all(isinstance(one, str) for one in value):
                setattr(node, field, ["_"] * len(value))
        return node
