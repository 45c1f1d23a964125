"""The price list of the library genai-prices: prices and windows of models, by name and base URL.

Only processes that check, publish or serve files import this module: a worker of AWS reads what was looked up then.
"""

import contextlib
from collections.abc import Iterator
from decimal import Decimal

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice, PriceCalculation, TieredPrices

from gofer.models.served_model import Listed, Price

_BY_PREFIX = "litellm"
"""The library's name for gateways: it reads the vendor from the model's name, as in `anthropic/claude-…`."""

Amount = Decimal | TieredPrices | None


def look_up(model: str, base_url: str) -> Listed | None:
    """Return what the library knows of a model behind a base URL, or of the name alone; None for nothing."""
    found = next(_found(model, base_url), None)
    if found is None:
        return None
    return Listed(price=price_of(found.model_price), window=found.model.context_window or 0)


def _found(model: str, base_url: str) -> Iterator[PriceCalculation]:
    """Yield what the library finds, the most exact first."""
    if base_url:
        with contextlib.suppress(LookupError):
            yield calc_price(Usage(), model, provider_api_url=base_url)
    with contextlib.suppress(LookupError):
        yield calc_price(Usage(), model, provider_id=_BY_PREFIX)


def price_of(listed: ModelPrice) -> Price | None:
    """Return the prices of tokens; None for a model that is not paid by them alone."""
    amounts = (listed.input_mtok, listed.cache_read_mtok, listed.output_mtok)
    if listed.input_mtok is None or listed.output_mtok is None or listed.requests_kcount is not None:
        return None
    starts = sorted({tier.start for amount in amounts if isinstance(amount, TieredPrices) for tier in amount.tiers})
    base = _at(listed, 0)
    above = tuple((start, _at(listed, start + 1)) for start in starts)
    return Price(input=base.input, cached_input=base.cached_input, output=base.output, above=above)


def _at(listed: ModelPrice, tokens: int) -> Price:
    """Return the price of a request with so many input tokens."""
    cached = listed.cache_read_mtok
    if cached is None:
        cached = listed.input_mtok
    return Price(
        input=_amount(listed.input_mtok, tokens),
        cached_input=_amount(cached, tokens),
        output=_amount(listed.output_mtok, tokens),
    )


def _amount(amount: Amount, tokens: int) -> float:
    if isinstance(amount, TieredPrices):
        reached = [amount.base, *(tier.price for tier in amount.tiers if tokens > tier.start)]
        return float(reached[-1])
    return float(amount or 0)
