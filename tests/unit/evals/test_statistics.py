"""The figures of repeated runs equal published values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.results import Repeated
from gofer.evals.statistics import consistency, pass_at_k, pass_hat_k, percentile, repeated, wilson

COUNTS = st.integers(1, 60).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


@pytest.mark.parametrize(
    ("passed", "runs", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_equals_the_published_examples(passed: int, runs: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), 857: the examples of method 3."""
    interval = wilson(passed, runs)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@given(COUNTS)
def test_wilson_interval_contains_the_pass_rate(counts: tuple[int, int]) -> None:
    passed, runs = counts
    interval = wilson(passed, runs)
    assert 0 <= interval.low <= passed / runs <= interval.high <= 1


def test_wilson_interval_without_runs_is_everything() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_pass_at_k_equals_the_estimate_over_all_choices_of_runs() -> None:
    # Of the ten pairs of five runs with two passes, seven hold a pass and one holds two.
    assert pass_at_k(2, 5, 2) == pytest.approx(0.7)
    assert pass_hat_k(2, 5, 2) == pytest.approx(0.1)


@given(COUNTS, st.integers(1, 60))
def test_pass_hat_k_never_exceeds_pass_at_k(counts: tuple[int, int], k: int) -> None:
    passed, runs = counts
    one = pass_at_k(passed, runs, k)
    every = pass_hat_k(passed, runs, k)
    if k > runs:
        assert (one, every) == (None, None)
        return
    assert one is not None
    assert every is not None
    assert -1e-12 <= every <= passed / runs + 1e-12
    assert passed / runs - 1e-12 <= one <= 1


def test_repeated_runs_are_estimated_for_three_runs_at_most() -> None:
    assert repeated(1, 1) is None
    assert repeated(1, 2) == Repeated(2, 1.0, 0.0)
    found = repeated(4, 5)
    assert found is not None
    assert (found.k, found.pass_at_k, found.pass_hat_k) == (3, 1.0, pytest.approx(0.4))


def test_consistency_is_the_share_of_the_most_frequent_status() -> None:
    assert consistency(["done", "done", "failed"]) == pytest.approx(2 / 3)
    assert consistency(["done"]) == 1.0
    assert consistency([]) is None


def test_percentile_is_a_measured_value_by_nearest_rank() -> None:
    values = [15.0, 20.0, 35.0, 40.0, 50.0]
    assert [percentile(values, share) for share in (0.05, 0.30, 0.40, 0.50, 0.95, 1.0)] == [15, 20, 20, 35, 50, 50]
    assert percentile([], 0.5) is None
