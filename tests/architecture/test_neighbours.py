"""Neighbouring fields of one type are passed by keyword: by position, swapping two of them would be no error."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from support.code.syntax import nodes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
NEIGHBOURS = 3
"""This many adjacent fields of one type have to be passed by keyword."""
TABLES = {"Kind", "Rule", "Brevity"}
"""Rows of tables, which are read column by column."""

Field = tuple[str, str]
"""Its name and its type, as they are written."""


def fields(node: ast.ClassDef) -> Sequence[Field]:
    """Return the fields that a dataclass takes by position, and none for another class."""
    marks = [ast.unparse(decorator) for decorator in node.decorator_list]
    if not any(mark.startswith("dataclass") and "kw_only=True" not in mark for mark in marks):
        return ()
    named = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    positional = [item for item in named if "kw_only=True" not in ast.unparse(item)]
    return [(ast.unparse(item.target), ast.unparse(item.annotation)) for item in positional]


def of_one_type(passed: Sequence[Field]) -> bool:
    """Whether too many adjacent fields have one type."""
    types = [annotation for _, annotation in passed]
    runs = (types[at : at + NEIGHBOURS] for at in range(len(types) - NEIGHBOURS + 1))
    return any(len(set(run)) == 1 for run in runs)


def by_position(modules: Mapping[Path, Sequence[ast.AST]]) -> Iterator[str]:
    """Yield each call that passes neighbours of one type by position. Classes that share a name are skipped."""
    classes: dict[str, list[Sequence[Field]]] = defaultdict(list)
    for found in modules.values():
        for node in found:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(fields(node))
    for path, found in modules.items():
        for node in found:
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            known = classes.get(name, [])
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            if len(known) == 1 and not starred and of_one_type(known[0][: len(node.args)]):
                yield f"{name} at {path}:{node.lineno}"


def test_neighbouring_fields_of_one_type_are_passed_by_keyword() -> None:
    modules = {path: nodes(path) for path in sorted(SOURCE.rglob("*.py"))}
    found = [one for one in by_position(modules) if one.split()[0] not in TABLES]
    assert found == []


@pytest.mark.parametrize(
    ("call", "found"),
    [("A(1, 'a', 'b', 'c')", True), ("A(1, 'a', 'b', third='c')", False), ("A(*given)", False), ("B(1, 2, 3)", False)],
)
def test_call_with_neighbouring_fields_by_position_is_found(call: str, found: bool) -> None:
    text = f"""
@dataclass(frozen=True)
class A:
    n: int
    first: str
    second: str
    third: str

@dataclass(frozen=True, kw_only=True)
class B:
    x: int
    y: int
    z: int

made = {call}
"""
    assert bool(list(by_position({Path("a.py"): list(ast.walk(ast.parse(text)))}))) is found
