"""The forecast of a month from complete days."""

import random

import pytest

from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import HeadFacts
from gofer.runtime.cost_forecast import FEWEST_DAYS, MONTH_DAYS, forecast, seen_days
from gofer.runtime.statistics import Statistics


def seen(costs: list[float], *, into_today: int = DAY_MS // 2, since: int = 0) -> Statistics:
    """Return statistics with one run of each cost a day, from day 1, and one costly run today."""
    until = (len(costs) + 1) * DAY_MS + into_today
    found = Statistics(since, until, "workflow")
    for day, usd in enumerate([*costs, 1_000.0], 1):
        found.add(Head(f"r{day}", "w", "c", day * DAY_MS + 5, "done", private=False), HeadFacts(usd=usd))
    return found


def test_equal_days_forecast_a_month_without_a_range() -> None:
    expected = forecast(seen([2.0] * FEWEST_DAYS))
    assert expected is not None
    assert (expected.days, expected.runs.expected) == (FEWEST_DAYS, MONTH_DAYS)
    assert (expected.usd.low, expected.usd.expected, expected.usd.high) == (60.0, 60.0, 60.0)


def test_too_few_complete_days_give_no_forecast() -> None:
    # Today is not complete, so its costly run does not count.
    assert forecast(seen([2.0] * (FEWEST_DAYS - 1))) is None
    assert forecast(Statistics(0, DAY_MS, "workflow")) is None


def test_days_without_runs_count_and_the_cut_first_day_does_not() -> None:
    found = seen([2.0, 2.0], since=DAY_MS + 1)
    del found.days[2]
    assert [day.runs for day in seen_days(found)] == [0]
    assert [day.runs for day in seen_days(seen([2.0, 2.0]))] == [1, 1]


def test_range_holds_most_months_of_the_same_kind_of_days() -> None:
    chance = random.Random(7)
    held = 0
    months = 400
    for _ in range(months):
        days = [chance.expovariate(0.5) for _ in range(21 + MONTH_DAYS)]
        expected = forecast(seen(days[:21]))
        assert expected is not None
        held += expected.usd.low <= sum(days[21:]) <= expected.usd.high
    assert held / months == pytest.approx(0.95, abs=0.06)
