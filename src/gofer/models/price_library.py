"""The price list of the library genai-prices: prices of models by base URL and name, and windows also by name alone.

Only processes that check, publish or serve files import this module. A worker on AWS reads the stored look-ups.
"""

import contextlib
from dataclasses import replace
from decimal import Decimal
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice, PriceCalculation, TieredPrices

from gofer.models.served_model import FREE, OPENAI, Listed, Price

_BY_PREFIX = "litellm"
"""The library's name for gateways. With it, the library reads the vendor from a name like `anthropic/claude-…`."""

_OWN_HOSTS = ("localhost", "host.docker.internal")
_OWN_NETWORKS = tuple(
    map(ip_network, ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"))
)
"""The loopback and private addresses of RFC 1918 and RFC 4193."""

Amount = Decimal | TieredPrices | None


def look_up(model: str, base_url: str) -> Listed | None:
    """Return the listing of a model; None if the library has not even its name.

    Only a vendor whose base URL the library knows has a price for it, and an own machine or network costs nothing.
    """
    at = base_url or OPENAI
    is_own = is_own_address(at)
    sold = None if is_own else _found(model, at)
    known = sold or _found(model)
    if known is None and not is_own:
        return None
    price = FREE if is_own else sold and price_of(sold.model_price)
    return Listed(price=price, window=(known and known.model.context_window) or 0)


def is_own_address(base_url: str) -> bool:
    """Return whether a base URL is on this machine or in a private network, where no vendor sends a bill."""
    host = urlsplit(base_url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host in _OWN_HOSTS or host.endswith((".local", ".localhost"))
    return any(address in network for network in _OWN_NETWORKS)


def _found(model: str, base_url: str = "") -> PriceCalculation | None:
    """Return the library's match at a base URL, or of the name alone."""
    with contextlib.suppress(LookupError):
        if base_url:
            return calc_price(Usage(), model, provider_api_url=base_url)
        return calc_price(Usage(), model, provider_id=_BY_PREFIX)
    return None


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
