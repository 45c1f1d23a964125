"""The table of the mutation gate still applies: each rule has its text in the source and a test that exists.

`make test` looks at the table, and `make test-long` takes each rule out.
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
def test_a_rule_has_its_text_in_the_source_and_a_test_that_exists(mutant: Mutant) -> None:
    before = Path(ROOT / "src" / "gofer" / mutant.file).read_text()
    after = without_its_rule(mutant)
    assert after != before
    ast.parse(after)
    file, _, test = mutant.test.partition("::")
    assert test.partition("[")[0] in defined_in(file)


def test_every_rule_is_named_once() -> None:
    assert len({mutant.rule for mutant in MUTANTS}) == len(MUTANTS)


def test_a_mutant_whose_text_is_gone_from_the_source_says_so() -> None:
    lost = replace(MUTANTS[0], source="a line that nobody wrote")
    with pytest.raises(ValueError, match="has what keeps 'the fence' 0 times"):
        without_its_rule(lost)
