"""The mutation gate: each rule taken out of the source fails the test that is named for it."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.mutants.mutation_gate import MUTANTS, Mutant, Verdict, copied, judged, verdicts


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Verdict]:
    return verdicts(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_rule_taken_out_of_the_source_fails_the_named_test(mutant: Mutant, said: Mapping[str, Verdict]) -> None:
    # 1 means that tests ran and failed; a missing node or an unused copy gives another code.
    assert said[mutant.rule].code == 1, said[mutant.rule].said


def test_named_tests_pass_with_all_rules_in_place(tmp_path: Path) -> None:
    tests = sorted({mutant.test for mutant in MUTANTS})
    verdict = judged(copied(tmp_path), tests)
    passed = re.search(r"(\d+) passed", verdict.said)
    # Parametrized tests count several times.
    assert verdict.code == 0, verdict.said
    assert passed is not None
    assert int(passed[1]) >= len(tests)


def test_verdict_needs_tests_that_run_on_the_copy(tmp_path: Path) -> None:
    """Without the package in the copy, Python would find the editable one, and the tests would pass."""
    copy = copied(tmp_path)
    (copy / "gofer").rename(copy / "elsewhere")
    assert judged(copy, [MUTANTS[0].test]).code not in (0, 1)
