"""The dollars that the price library counts for a usage as vendors report it, read without Gofer."""

from collections.abc import Mapping
from typing import cast

from genai_prices import Usage, calc_price


def billed(model: str, base_url: str, usage: Mapping[str, object]) -> float:
    """Return the US dollars of one answer of a model behind a base URL."""
    return float(calc_price(counted(usage), model, provider_api_url=base_url).total_price)


def counted(usage: Mapping[str, object]) -> Usage:
    """Return a usage as the price library counts it, from the fields of any of the three formats."""
    known = cast(Mapping[str, int], usage)
    if "input_tokens_details" in usage or "prompt_tokens_details" in usage:
        name = "input_tokens_details" if "input_tokens_details" in usage else "prompt_tokens_details"
        details = cast(Mapping[str, int], usage[name])
        return Usage(
            input_tokens=known.get("input_tokens", known.get("prompt_tokens")),
            cache_read_tokens=details["cached_tokens"],
            cache_write_tokens=details["cache_write_tokens"],
            output_tokens=known.get("output_tokens", known.get("completion_tokens")),
        )
    read, written = known["cache_read_input_tokens"], known["cache_creation_input_tokens"]
    return Usage(
        input_tokens=known["input_tokens"] + read + written,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=cast(Mapping[str, int], usage["cache_creation"])["ephemeral_1h_input_tokens"],
        output_tokens=known["output_tokens"],
    )
