"""The table of the mutation gate: each rule has its text in the source and a named test.

`make test` checks the table, and `make test-long` takes each rule out.
"""

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from support.mutants.mutation_gate import MUTANTS, ROOT, Mutant, without_its_rule


@cache
def defined_in(file: str) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_mutation_rule_has_text_in_the_source_and_an_existing_test(mutant: Mutant) -> None:
    before = Path(ROOT / "src" / "gofer" / mutant.file).read_text()
    after = without_its_rule(mutant)
    assert after != before
    ast.parse(after)
    file, _, test = mutant.test.partition("::")
    assert test.partition("[")[0] in defined_in(file)


def test_mutation_rule_names_are_unique() -> None:
    assert len({mutant.rule for mutant in MUTANTS}) == len(MUTANTS)


def test_mutant_without_a_text_in_the_source_is_reported() -> None:
    lost = replace(MUTANTS[0], source="a line that does not exist")
    with pytest.raises(ValueError, match="has what keeps 'the fence' 0 times"):
        without_its_rule(lost)
