"""A forecast of the runs and the cost of a month, from the complete days of a statistic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.journal.coordination import DAY_MS
from gofer.runtime.statistics import Day, Statistics

MONTH_DAYS = 30
FEWEST_DAYS = 7
"""The fewest complete days for a forecast, so that it has seen a whole week."""
_Z = 1.96
"""Standard deviations on each side of a range that holds 95 % of all cases."""


@dataclass(frozen=True, slots=True)
class Range:
    """An expected sum over a month, and the range that it stays in with 95 %, if days go on as before."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of 30 days."""

    days: int
    """The number of complete days that it rests on."""
    runs: Range
    usd: Range


def seen_days(found: Statistics) -> Sequence[Day]:
    """Return the complete days in UTC from the first run to yesterday, days without runs included."""
    if not found.days:
        return []
    first = min(found.days)
    if first * DAY_MS < found.since:
        # The statistic began within that day.
        first += 1
    return [found.days.get(day, Day()) for day in range(first, found.until // DAY_MS)]


def forecast(found: Statistics) -> Forecast | None:
    """Return the forecast of a month; None if there are too few days."""
    days = seen_days(found)
    if len(days) < FEWEST_DAYS:
        return None
    return Forecast(len(days), _range([day.runs for day in days]), _range([day.usd for day in days]))


def _range(values: Sequence[float]) -> Range:
    """Return the range of the sum of MONTH_DAYS future values, when values vary as the seen ones do."""
    seen = len(values)
    mean = sum(values) / seen
    variance = sum((value - mean) ** 2 for value in values) / (seen - 1)
    # The future days vary, and the mean of the seen days is itself uncertain.
    margin = _Z * math.sqrt(variance * (MONTH_DAYS + MONTH_DAYS**2 / seen))
    expected = mean * MONTH_DAYS
    return Range(expected=expected, low=max(0.0, expected - margin), high=expected + margin)
