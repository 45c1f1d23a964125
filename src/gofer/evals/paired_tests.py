"""The exact test of pass rates against a baseline, the drop that it can find, and the runs that it needs.

Runs are paired by case. Within a case, runs before and now are exchangeable if nothing changed, so the number of passes
now has a hypergeometric distribution. For one case this is Fisher's exact test, and for cases with one run each it is
the exact McNemar test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gofer.evals.statistics import wilson

SIGNIFICANCE = 0.05
"""The largest probability of a drop by chance with which the drop counts as one."""
POWER = 0.8
TOLERATED_DROP = 0.1
"""A pass rate has not regressed once a larger drop than this is excluded with 95 % confidence."""
_ROUNDING = 1e-9
"""The error of floats that must not turn a probability of exactly SIGNIFICANCE into a larger one."""
_MOST_RUNS = 100_000
"""The end of the search for the number of runs that a verdict needs."""

_MOST_COUNTS = 4_096
"""The most counts with stored figures, because many cases of a suite have the same counts."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The runs of one case before and now."""

    passed_before: float
    runs_before: float
    passed: float
    runs: float

    def times(self, factor: float) -> "Counts":
        """Return the counts of `factor` times as many runs with the same pass rates, in whole runs."""
        return Counts(
            passed_before=round(self.passed_before * factor),
            runs_before=round(self.runs_before * factor),
            passed=round(self.passed * factor),
            runs=round(self.runs * factor),
        )


def chance_of_drop(cases: Sequence[Counts]) -> float:
    """Return the probability of as few passes as now, or fewer, if no case changed (one-sided, exact)."""
    passes = [1.0]
    seen = 0
    for case in cases:
        least, shares = _passes_by_chance(case)
        passes = _added(passes, shares)
        seen += round(case.passed) - least
    return min(1.0, math.fsum(passes[: seen + 1]))


def is_significant(chance: float) -> bool:
    """Return whether a drop with this probability counts as one."""
    return chance <= SIGNIFICANCE + _ROUNDING


def pooled(cases: Sequence[Counts]) -> Counts:
    """Return the runs of all cases together, with the same weight of each case before and now."""
    sizes = [2 * case.runs_before * case.runs / (case.runs_before + case.runs) for case in cases]
    pairs = list(zip(cases, sizes, strict=True))
    return Counts(
        passed_before=sum(size * case.passed_before / case.runs_before for case, size in pairs),
        runs_before=sum(sizes),
        passed=sum(size * case.passed / case.runs for case, size in pairs),
        runs=sum(sizes),
    )


def largest_drop(counts: Counts) -> float:
    """Return the upper end of the 95 % interval of the drop (Newcombe's hybrid score interval, his method 10)."""
    before = wilson(counts.passed_before, counts.runs_before)
    now = wilson(counts.passed, counts.runs)
    rate_before = counts.passed_before / counts.runs_before
    rate = counts.passed / counts.runs
    return rate_before - rate + math.hypot(before.high - rate_before, rate - now.low)


@lru_cache(_MOST_COUNTS)
def detectable_drop(counts: Counts) -> float | None:
    """Return the smallest drop below the rate before that the test finds with a probability of POWER.

    None if the test cannot find even a drop to zero. Several cases are given as pooled counts, so that the figure is
    an estimate for them.
    """
    whole = counts.times(1)
    critical = _most_significant_passes(whole)
    if critical is None:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _at_most(critical, round(whole.runs), middle) >= POWER:
            low = middle
        else:
            high = middle
    return max(0.0, whole.passed_before / whole.runs_before - low)


@lru_cache(_MOST_COUNTS)
def more_runs(counts: Counts) -> int | None:
    """Return about how many more runs decide the comparison if both pass rates stay; None if no number does."""
    factor = 1.0
    while counts.runs * factor <= _MOST_RUNS:
        if _is_decided(counts.times(factor)):
            return max(1, math.ceil(counts.runs * (factor - 1)))
        # Small suites grow run by run, and large ones by a twentieth.
        factor = max(factor * 1.05, factor + 1 / counts.runs)
    return None


def _is_decided(counts: Counts) -> bool:
    return is_significant(chance_of_drop([counts])) or largest_drop(counts) <= TOLERATED_DROP


def holm(chances: Sequence[float]) -> Sequence[float]:
    """Return each probability corrected for the number of tests (Holm's step-down method)."""
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    corrected = [0.0] * len(chances)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, chances[index] * (len(chances) - rank)))
        corrected[index] = largest
    return corrected


def _passes_by_chance(case: Counts) -> tuple[int, Sequence[float]]:
    """Return the least number of passes now, and the probability of that number and of each larger one."""
    runs = round(case.runs)
    runs_before = round(case.runs_before)
    passes = round(case.passed + case.passed_before)
    least = max(0, passes - runs_before)
    most = min(passes, runs)
    ways = _log_comb(runs + runs_before, passes)
    shares = [
        math.exp(_log_comb(runs, now) + _log_comb(runs_before, passes - now) - ways) for now in range(least, most + 1)
    ]
    return least, shares


def _added(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the distribution of the sum of two independent numbers."""
    total = [0.0] * (len(first) + len(second) - 1)
    for left, share in enumerate(first):
        for right, other in enumerate(second):
            total[left + right] += share * other
    return total


def _most_significant_passes(counts: Counts) -> int | None:
    """Return the largest number of passes now that counts as a drop."""
    found = None
    low, high = 0, round(counts.runs)
    while low <= high:
        middle = (low + high) // 2
        one = replace(counts, passed=middle)
        if is_significant(chance_of_drop([one])):
            found = middle
            low = middle + 1
        else:
            high = middle - 1
    return found


def _at_most(passed: int, runs: int, rate: float) -> float:
    """Return the probability of at most `passed` passes in `runs` runs that pass with a rate."""
    if rate <= 0:
        return 1.0
    if rate >= 1:
        return float(passed >= runs)
    return math.fsum(
        math.exp(_log_comb(runs, count) + count * math.log(rate) + (runs - count) * math.log1p(-rate))
        for count in range(passed + 1)
    )


def _log_comb(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)
