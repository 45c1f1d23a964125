"""Each rule that keeps the promises is missed by a test with a name when it is taken out of the source."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.mutants.mutation_gate import MUTANTS, Mutant, Verdict, copied, judged, verdicts


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Verdict]:
    return verdicts(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_a_rule_taken_out_of_the_source_is_missed_by_its_test(mutant: Mutant, said: Mapping[str, Verdict]) -> None:
    # 1 means that tests ran and failed; a node that is not there, or a copy that was not used, is another code.
    assert said[mutant.rule].code == 1, said[mutant.rule].said


def test_with_all_rules_in_place_the_same_tests_pass(tmp_path: Path) -> None:
    tests = sorted({mutant.test for mutant in MUTANTS})
    verdict = judged(copied(tmp_path), tests)
    passed = re.search(r"(\d+) passed", verdict.said)
    # Some of the tests are several, by their parameters.
    assert verdict.code == 0, verdict.said
    assert passed is not None
    assert int(passed[1]) >= len(tests)


def test_tests_that_would_not_run_on_the_copy_are_no_verdict(tmp_path: Path) -> None:
    """Without the package in the copy the editable one would be found, and everything would seem to be fine."""
    copy = copied(tmp_path)
    (copy / "gofer").rename(copy / "elsewhere")
    assert judged(copy, [MUTANTS[0].test]).code not in (0, 1)
