"""The dollars of usages as vendors report them equal those of the price library, one by one and as a sum."""

import json
from collections.abc import Mapping
from typing import cast

import pytest

from gofer.journal.entries import LlmResponse, Recorded
from gofer.models.language_model import DEPLOYED
from gofer.models.price_library import look_up
from gofer.models.remote import FORMATS
from gofer.projections import progress
from gofer.values.messages import Usage
from support.models.bills import billed

URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
OPENAI = ("gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6-sol", "gpt-6.1-sol")
ANTHROPIC = ("claude-sonnet-4-5", "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5", "claude-haiku-5-5")
OPENAI_COUNTS = ((1_200, 0, 0, 300, 0), (52_000, 48_000, 3_000, 900, 640), (272_000, 0, 272_000, 1, 0))
"""Input, read and written tokens of it, output tokens, and thoughts of it; and the first request above 272,000."""
LONG = (310_000, 200_000, 60_001, 4_000, 3_500)
ANTHROPIC_COUNTS = ((1_200, 0, 0, 0, 300), (17, 48_000, 3_000, 0, 900), (5, 0, 100_000, 60_000, 800))
"""Fresh, read and written tokens, those written for an hour, and output tokens; and one request above 200,000."""
LONG_MESSAGE = (3_000, 150_000, 60_000, 20_000, 2_000)


def _responses(model: str, counts: tuple[int, int, int, int, int]) -> Mapping[str, object]:
    read, cached, written, out, thought = counts
    usage = {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": written,
            "cache_write_tokens_details": {"ttl_30m_tokens": written - written // 3, "ttl_12h_tokens": written // 3},
        },
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + out,
    }
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}]
    return {"object": "response", "model": model, "status": "completed", "output": output, "usage": usage}


def _completion(model: str, counts: tuple[int, int, int, int, int]) -> Mapping[str, object]:
    read, cached, written, out, thought = counts
    usage = {
        "prompt_tokens": read,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens": out,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}
    return {"object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def _message(model: str, counts: tuple[int, int, int, int, int]) -> Mapping[str, object]:
    fresh, read, written, hour, out = counts
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        "output_tokens": out,
    }
    content = [{"type": "text", "text": "Yes."}]
    return {"type": "message", "role": "assistant", "model": model, "content": content} | {
        "stop_reason": "end_turn",
        "usage": usage,
    }


BODIES = [
    *(("openai", "responses", _responses(model, counts)) for model in OPENAI for counts in (*OPENAI_COUNTS, LONG)),
    *(("openai", "chat_completions", _completion(model, counts)) for model in OPENAI for counts in (LONG,)),
    *(
        ("anthropic", "messages", _message(model, counts))
        for model in ANTHROPIC
        for counts in (*ANTHROPIC_COUNTS, LONG_MESSAGE)
    ),
]


def _usage(api: str, body: Mapping[str, object]) -> Usage:
    formats = {str(name): one for name, one in FORMATS.items()}
    return formats[api].parse(json.dumps(body).encode(), DEPLOYED).usage


def _cost(vendor: str, model: str, usage: Usage) -> float:
    found = look_up(model, URLS[vendor])
    assert found is not None
    assert found.price is not None
    return found.price.cost(usage)


def test_run_of_forty_usages_of_two_vendors_costs_the_dollars_of_the_price_library() -> None:
    paid: list[float] = []
    owed: list[float] = []
    run: list[Recorded] = []
    for vendor, api, body in BODIES:
        model = str(body["model"])
        usage = _usage(api, body)
        owed.append(billed(model, URLS[vendor], cast(Mapping[str, object], body["usage"])))
        paid.append(_cost(vendor, model, usage))
        run.append(Recorded(len(run), 0, 0, "w1", LlmResponse("Yes.", (), "stop", model, usage, paid[-1], 1)))
        assert paid[-1] == pytest.approx(owed[-1], abs=1e-9), (api, body)
    assert len(paid) >= 40
    assert progress.project(run).cost_usd == pytest.approx(sum(owed), abs=1e-9)
