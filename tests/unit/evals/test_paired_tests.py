"""The test against a baseline equals published values of Fisher's, McNemar's and Newcombe's methods."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.paired_tests import (
    TOLERATED_DROP,
    Counts,
    chance_of_drop,
    detectable_drop,
    holm,
    is_significant,
    largest_drop,
    more_runs,
    pooled,
)

LOST = Counts(1, 1, 0, 1)
WON = Counts(0, 1, 1, 1)
KEPT = Counts(1, 1, 1, 1)


def test_chance_of_one_case_equals_the_tea_tasting_experiment() -> None:
    """Fisher, The Design of Experiments (1935): three of four cups right, p = 0.243."""
    assert chance_of_drop([Counts(3, 4, 1, 4)]) == pytest.approx(0.24286, abs=1e-5)


@pytest.mark.parametrize(("lost", "won", "two_sided"), [(16, 6, 0.0525), (121, 59, 4.434e-06)])
def test_chance_of_single_runs_equals_the_exact_mcnemar_test(lost: int, won: int, two_sided: float) -> None:
    """The examples are those of the article on Wikipedia (χ² = 4.55) and of the tests of statsmodels."""
    chance = chance_of_drop([LOST] * lost + [WON] * won + [KEPT] * 9)
    assert 2 * chance == pytest.approx(two_sided, rel=1e-2)


@pytest.mark.parametrize(
    ("counts", "upper"),
    [
        (Counts(56, 70, 48, 80), 0.3339),
        (Counts(9, 10, 3, 10), 0.8090),
        (Counts(6, 7, 2, 7), 0.8062),
        (Counts(5, 56, 0, 29), 0.1926),
    ],
)
def test_largest_drop_equals_the_published_intervals(counts: Counts, upper: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), 873: the examples of method 10."""
    assert largest_drop(counts) == pytest.approx(upper, abs=5e-5)


def test_chance_equals_the_count_of_all_rearrangements() -> None:
    cases = [Counts(2, 3, 1, 2), Counts(3, 3, 1, 3)]
    assert chance_of_drop(cases) == pytest.approx(share_of_rearrangements(cases))


def share_of_rearrangements(cases: list[Counts]) -> float:
    """Return the share of the ways to choose the runs now, within each case, with as few passes as now."""
    passes_of_cases: list[list[int]] = []
    for case in cases:
        total = int(case.runs + case.runs_before)
        passed = int(case.passed + case.passed_before)
        ways = itertools.combinations(range(total), int(case.runs))
        passes_of_cases.append([sum(run < passed for run in way) for way in ways])
    seen = sum(case.passed for case in cases)
    every = [sum(way) for way in itertools.product(*passes_of_cases)]
    return sum(way <= seen for way in every) / len(every)


def test_three_losses_of_three_runs_are_just_significant() -> None:
    assert is_significant(chance_of_drop([Counts(3, 3, 0, 3)]))
    assert not is_significant(chance_of_drop([Counts(3, 3, 1, 3)]))


def test_unchanged_pass_rate_is_rarely_called_a_drop() -> None:
    drawn = random.Random(7)
    alarms = 0
    for _ in range(400):
        cases: list[Counts] = []
        for rate in (0.5, 0.8, 0.95):
            before, now = (sum(drawn.random() < rate for _ in range(5)) for _ in range(2))
            cases.append(Counts(before, 5, now, 5))
        alarms += is_significant(chance_of_drop(cases))
    assert alarms <= 400 * 0.05


def test_detectable_drop_is_found_in_four_of_five_times() -> None:
    drop = detectable_drop(Counts(20, 20, 20, 20))
    assert drop is not None
    drawn = random.Random(3)
    passes = [sum(drawn.random() < 1 - drop for _ in range(20)) for _ in range(1000)]
    found = sum(is_significant(chance_of_drop([Counts(20, 20, count, 20)])) for count in passes)
    assert 0.76 <= found / 1000 <= 0.86


def test_one_run_each_can_detect_no_drop() -> None:
    assert detectable_drop(Counts(1, 1, 1, 1)) is None


def test_more_runs_decide_the_comparison() -> None:
    more = more_runs(Counts(3, 3, 3, 3))
    assert more is not None
    total = 3 + more
    assert largest_drop(Counts(total, total, total, total)) <= TOLERATED_DROP
    assert largest_drop(Counts(total - 2, total - 2, total - 2, total - 2)) > TOLERATED_DROP


def test_more_runs_are_found_for_a_difference_too_small_to_matter() -> None:
    more = more_runs(Counts(90, 100, 81, 100))
    assert more is not None
    assert 0 < more < 200


def test_pooled_counts_give_each_case_the_same_weight_before_and_now() -> None:
    # More runs of a case that always fails are no drop of the suite.
    counts = pooled([Counts(3, 3, 3, 3), Counts(0, 3, 0, 30)])
    assert counts.passed_before / counts.runs_before == pytest.approx(counts.passed / counts.runs)


def test_holm_corrects_each_probability_for_the_number_of_tests() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_probability_is_never_below_the_raw_one(chances: list[float]) -> None:
    assert all(new >= old for new, old in zip(holm(chances), chances, strict=True))
