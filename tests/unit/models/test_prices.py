import pytest

from gofer.messages import Usage
from gofer.models.prices import Price, Prices, load_prices

PRICES = Prices({"m": Price(input=2.0, cached_input=0.5, output=8.0)})


def test_cached_tokens_cost_their_own_price() -> None:
    assert PRICES.cost("m", Usage(1_000_000, 100_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.8)


def test_a_dated_name_has_the_price_of_its_family() -> None:
    assert PRICES.cost("m-2026-03-17", Usage(1_000_000)) == 2.0


def test_an_unknown_model_has_no_cost_rather_than_none_at_all() -> None:
    assert PRICES.cost("somebody-elses", Usage(1)) is None


def test_the_table_that_ships_is_complete() -> None:
    prices = load_prices().models
    assert "gpt-5.4-mini" in prices
    assert all(price.cached_input <= price.input <= price.output for price in prices.values())
