"""The price list of the library genai-prices: prices and windows of models, by name and base URL.

Only processes that check, publish or serve files import this module. A worker on AWS reads the stored look-ups.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice, PriceCalculation, TieredPrices

from gofer.models.served_model import Listed, Price

_BY_PREFIX = "litellm"
"""The library's name for gateways. With it, the library reads the vendor from a name like `anthropic/claude-…`."""

Amount = Decimal | TieredPrices | None


def look_up(model: str, base_url: str) -> Listed | None:
    """Return the listing of a model behind a base URL, or of its name alone; None if the library has neither."""
    found = next(_found(model, base_url), None)
    if found is None:
        return None
    return Listed(price=price_of(found.model_price), window=found.model.context_window or 0)


def _found(model: str, base_url: str) -> Iterator[PriceCalculation]:
    """Yield the matches of the library, the most exact first."""
    if base_url:
        with contextlib.suppress(LookupError):
            yield calc_price(Usage(), model, provider_api_url=base_url)
    with contextlib.suppress(LookupError):
        yield calc_price(Usage(), model, provider_id=_BY_PREFIX)


def price_of(listed: ModelPrice) -> Price | None:
    """Return the prices of a model's tokens; None if they are unknown, or if the model has other prices as well."""
    writes = (listed.cache_write_mtok, listed.cache_write_1h_mtok)
    amounts = (listed.input_mtok, listed.cache_read_mtok, listed.output_mtok, *writes)
    if listed.input_mtok is None or listed.output_mtok is None or listed.requests_kcount is not None:
        return None
    starts = sorted({tier.start for amount in amounts if isinstance(amount, TieredPrices) for tier in amount.tiers})
    return replace(_at(listed, 0), above=tuple((start, _at(listed, start + 1)) for start in starts))


def _at(listed: ModelPrice, tokens: int) -> Price:
    """Return the price of a request with so many input tokens."""
    cached = listed.cache_read_mtok
    if cached is None:
        cached = listed.input_mtok
    return Price(
        input=_amount(listed.input_mtok, tokens),
        cached_input=_amount(cached, tokens),
        output=_amount(listed.output_mtok, tokens),
        cache_write=_known(listed.cache_write_mtok, tokens),
        cache_write_long=_known(listed.cache_write_1h_mtok, tokens),
    )


def _known(amount: Amount, tokens: int) -> float | None:
    return None if amount is None else _amount(amount, tokens)


def _amount(amount: Amount, tokens: int) -> float:
    if isinstance(amount, TieredPrices):
        reached = [amount.base, *(tier.price for tier in amount.tiers if tokens > tier.start)]
        return float(reached[-1])
    return float(amount or 0)
