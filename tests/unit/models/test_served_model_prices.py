import pytest

from gofer.models import scripted
from gofer.models.served_model import STAND_INS, Price, price_from_json, stand_in_prices
from gofer.values.messages import Usage
from gofer_simulators import offline_model

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)


def test_cached_tokens_are_charged_at_the_cached_price() -> None:
    assert PRICE.cost(Usage(1_000_000, 100_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.8)


def test_long_request_is_charged_at_the_price_tier_for_every_token() -> None:
    tiered = Price(input=2.0, cached_input=0.5, output=8.0, above=((1_000, Price(input=4, cached_input=1, output=9)),))
    assert tiered.cost(Usage(1_000, 0)) == pytest.approx(0.002)
    assert tiered.cost(Usage(1_001, 1_000, 1)) == pytest.approx((1_000 * 4 + 1 + 9_000) / 1_000_000)
    assert price_from_json(tiered.to_json()) == tiered


def test_stand_in_models_are_free_and_other_models_are_unpriced() -> None:
    prices = stand_in_prices()
    assert set(STAND_INS) == {offline_model.MODEL, scripted.NAME}
    assert [prices.cost(name, Usage(9, 9)) for name in (*STAND_INS, "somebody-elses")] == [0.0, 0.0, None]
