"""The figures of repeated runs: intervals, pass@k, pass^k, consistency and percentiles."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

from gofer.evals.results import Interval, Repeated

CONFIDENCE = 0.95
MOST_K = 3
"""The runs that pass@k and pass^k are about."""


def wilson(passed: float, runs: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the Wilson score interval of a pass rate; 0 to 1 without runs."""
    if runs == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = passed / runs
    middle = (rate + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * math.sqrt(rate * (1 - rate) / runs + z**2 / (4 * runs**2))
    # Rounding of floats must not put the rate itself outside.
    return Interval(max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half)))


def pass_at_k(passed: int, runs: int, k: int) -> float | None:
    """Return the unbiased estimate that at least one of `k` runs passes; None with fewer than `k` runs."""
    if not 1 <= k <= runs:
        return None
    return 1 - math.comb(runs - passed, k) / math.comb(runs, k)


def pass_hat_k(passed: int, runs: int, k: int) -> float | None:
    """Return the unbiased estimate that all of `k` runs pass (pass^k); None with fewer than `k` runs."""
    if not 1 <= k <= runs:
        return None
    return math.comb(passed, k) / math.comb(runs, k)


def repeated(passed: int, runs: int) -> Repeated | None:
    """Return pass@k and pass^k for MOST_K runs, or for all if there are fewer; None with fewer than two runs."""
    k = min(MOST_K, runs)
    at_least_one = pass_at_k(passed, runs, k)
    every = pass_hat_k(passed, runs, k)
    if k < 2 or at_least_one is None or every is None:
        return None
    return Repeated(k, pass_at_k=at_least_one, pass_hat_k=every)


def consistency(statuses: Sequence[str]) -> float | None:
    """Return the share of the runs that have the most frequent status; None without runs."""
    if not statuses:
        return None
    return max(Counter(statuses).values()) / len(statuses)


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least a share of all values do not exceed; None without values.

    0.5 gives p50 and 0.95 gives p95, by nearest rank, so that each result is a value that was measured.
    """
    if not values:
        return None
    rank = math.ceil(share * len(values))
    return sorted(values)[max(rank, 1) - 1]
