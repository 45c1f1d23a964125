"""The budget of one suggestion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.suggestions.budget import Budget, OverBudget


def test_spent_budget_ends_the_suggestion_before_the_next_step() -> None:
    budget = Budget(1.0)
    budget.spend(0.6)
    budget.check()
    budget.spend(0.6)
    with pytest.raises(OverBudget, match=r"Stopped after 1.2000 USD of at most 1 USD"):
        budget.check()


def test_unknown_price_ends_the_suggestion() -> None:
    with pytest.raises(OverBudget, match="the price of a model is unknown"):
        Budget(1.0).spend(None)


@given(st.lists(st.floats(0.01, 1.0), max_size=20), st.floats(0.01, 5.0))
def test_budget_is_never_exceeded_by_more_than_one_step(costs: list[float], limit: float) -> None:
    budget = Budget(limit)
    for cost in costs:
        try:
            budget.check()
        except OverBudget:
            break
        budget.spend(cost)
    assert budget.spent <= limit + 1.0
