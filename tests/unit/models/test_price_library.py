"""Prices that Gofer writes down equal the prices that the library calculates for the same call."""

from decimal import Decimal

import pytest
from genai_prices import Usage as Counted
from genai_prices import calc_price
from genai_prices.data import providers

from gofer.models.price_library import look_up, price_of
from gofer.values.messages import Usage

CALLS = [Usage(0, 0), Usage(1_000, 200, 400), Usage(199_000, 9_000, 1), Usage(300_000, 50, 299_000), Usage(900_000, 1)]


@pytest.mark.parametrize("provider", providers, ids=lambda provider: provider.id)
def test_written_price_of_every_model_equals_the_price_library(provider) -> None:
    for model in provider.models:
        for usage in CALLS:
            counted = Counted(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cache_read_tokens=usage.cached_tokens,
            )
            try:
                expected = calc_price(counted, model.id, provider_id=provider.id)
            except LookupError:
                continue
            price = price_of(expected.model_price)
            if price is not None:
                assert price.cost(usage) == pytest.approx(float(expected.total_price)), (provider.id, model.id, usage)


@pytest.mark.parametrize(
    ("model", "base_url", "paid", "window"),
    [
        ("gpt-5.4-mini", "", 0.75, 400_000),
        ("gpt-5.4-mini-2026-03-17", "", 0.75, 400_000),
        ("claude-sonnet-4-5", "https://api.anthropic.com/v1", 3.0, 200_000),
        ("claude-sonnet-4-5", "http://127.0.0.1:1/v1", 0.0, 200_000),
        ("our-own-model", "http://10.1.2.3:8000/v1", 0.0, 0),
        ("our-own-model", "http://[fd00::1]:8000/v1", 0.0, 0),
        ("our-own-model", "http://host.docker.internal:11434/v1", 0.0, 0),
        ("our-own-model", "http://studio.local/v1", 0.0, 0),
        ("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", 0.59, 0),
    ],
)
def test_model_price_is_found_by_base_url_and_is_zero_on_an_own_address(
    model: str, base_url: str, paid: float, window: int
) -> None:
    found = look_up(model, base_url)
    assert found is not None
    assert found.price is not None
    assert (found.price.input, found.window) == (paid, window)


@pytest.mark.parametrize("url", ["https://gateway.example.com/v1", "https://8.8.8.8/v1", "https://local.example.com"])
def test_model_at_an_unknown_endpoint_has_its_window_and_no_price(url: str) -> None:
    found = look_up("anthropic/claude-sonnet-4-5", url)
    assert found is not None
    assert (found.price, found.window) == (None, 200_000)
    assert look_up("claude-sonnet-4-5", "") == look_up("claude-sonnet-4-5", "https://api.openai.com/v1")


def test_unlisted_model_has_no_guessed_price() -> None:
    assert look_up("our-fine-tuned-model", "https://models.example.com/v1") is None
    assert look_up("our-fine-tuned-model", "") is None


def test_decimal_prices_are_calculated_without_loss() -> None:
    found = look_up("gpt-5.4", "")
    assert found is not None
    assert found.price is not None
    assert found.price.cost(Usage(1_000_000, 1_000_000)) == float(Decimal("5") + Decimal("22.5"))
