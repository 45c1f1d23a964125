"""The table of what a run costs with seven models: what was sent, the tokens, and the dollars beside the price library.

`PYTHONPATH=tests python -m generators.models_table` writes it into docs/models.md with the table of that module. Each
model plays the same run at a simulated endpoint, which reports usage as its vendor does.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.models.price_library import look_up
from gofer.projections import progress
from gofer.projections.progress import Progress
from support.app.company import company
from support.app.one_workflow import CAPTAIN, DEPLOYS, world
from support.models.bills import billed

BEGIN = "<!-- made by tests/generators/models_bill.py -->\n"
OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com/v1"
GROQ = "https://api.groq.com/openai/v1"
HEADINGS = (
    "model",
    "API",
    "effort",
    "tool calls",
    "tokens in",
    "read from a cache",
    "written to it",
    "tokens out",
    "USD recorded",
    "USD by genai-prices",
)


@dataclass(frozen=True)
class Played:
    """A model, and where it is sold."""

    name: str
    api: str
    base_url: str = ""
    """The vendor's base URL; empty for a model on an own machine."""
    effort: str = ""
    reads: bool = True
    """Whether the vendor's cache is read."""
    writes: bool = False
    """Whether the vendor charges for what it writes to its cache."""


MODELS: Mapping[str, Played] = {
    "one": Played("gpt-5.4", "responses", OPENAI, "low"),
    "two": Played("gpt-5.4-mini", "chat_completions", OPENAI),
    "three": Played("gpt-5.6-sol", "responses", OPENAI, "high", writes=True),
    "four": Played("claude-sonnet-4-6", "messages", ANTHROPIC, "medium", writes=True),
    "five": Played("claude-haiku-4-5", "messages", ANTHROPIC, writes=True),
    "six": Played("llama-3.3-70b-versatile", "chat_completions", GROQ, reads=False),
    "seven": Played("qwen3-8b", "chat_completions", reads=False),
}
"""The models by role, which is the name of their endpoint too."""
COUNTS = ((12_000, 0, 11_000, 300), (13_000, 11_000, 1_500, 250), (14_500, 12_500, 1_200, 400))
"""For each answer of the run: tokens in, those read and written of them, and tokens out."""
CALLS: Sequence[tuple[str, Mapping[str, object]]] = (
    ("todo_write", {"todos": [{"id": "1", "description": "Look."}]}),
    ("todo_update", {"id": "1", "status": "completed"}),
)
THOUGHTS = "I look first."


@dataclass
class Vendors:
    """The server behind all endpoints, which keeps each request and the usage that it reported, by endpoint."""

    requests: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    usages: dict[str, list[Mapping[str, object]]] = field(default_factory=dict)

    async def answer(self, request: Request) -> JSONResponse:
        endpoint = str(request.path_params["endpoint"])
        asked = self.requests.setdefault(endpoint, [])
        body = ANSWERS[MODELS[endpoint].api](MODELS[endpoint], len(asked))
        asked.append(json.loads(await request.body()))
        self.usages.setdefault(endpoint, []).append(body["usage"])
        return JSONResponse({"model": MODELS[endpoint].name, **body})


def _counts(model: Played, turn: int) -> tuple[int, int, int, int, int]:
    """Return the tokens in, those read and written of them, the tokens out, and the thoughts of them."""
    read, cached, written, out = COUNTS[turn]
    return read, cached * model.reads, written * model.writes, out, out // 2 * bool(model.effort)


def _responses(model: Played, turn: int) -> Mapping[str, Any]:
    read, cached, written, out, thought = _counts(model, turn)
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": thought},
    }
    items: list[object] = []
    if model.effort:
        items.append({"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "c2VhbGVk"})
    if turn < len(CALLS):
        tool, given = CALLS[turn]
        call = {"call_id": f"call_{turn}", "name": tool, "arguments": json.dumps(given)}
        items.append({"type": "function_call", "id": f"fc_{turn}", **call})
    else:
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seen."}]})
    return {"id": f"resp_{turn}", "status": "completed", "output": items, "usage": usage}


def _completion(model: Played, turn: int) -> Mapping[str, Any]:
    read, cached, written, out, thought = _counts(model, turn)
    usage = {
        "prompt_tokens": read,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens": out,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    message: dict[str, object] = {"role": "assistant", "content": "Seen."}
    if turn < len(CALLS):
        tool, given = CALLS[turn]
        function = {"name": tool, "arguments": json.dumps(given)}
        message = {"content": None, "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": function}]}
    return {"choices": [{"finish_reason": "stop", "message": message}], "usage": usage}


def _message(model: Played, turn: int) -> Mapping[str, Any]:
    read, cached, written, out, _ = _counts(model, turn)
    usage = {
        "input_tokens": read - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": out,
    }
    blocks: list[object] = []
    if model.effort:
        blocks.append({"type": "thinking", "thinking": THOUGHTS, "signature": "c2ln"})
    if turn < len(CALLS):
        tool, given = CALLS[turn]
        blocks.append({"type": "tool_use", "id": f"toolu_{turn}", "name": tool, "input": given})
    else:
        blocks.append({"type": "text", "text": "Seen."})
    reason = "tool_use" if turn < len(CALLS) else "end_turn"
    return {"id": f"msg_{turn}", "type": "message", "content": blocks, "stop_reason": reason, "usage": usage}


ANSWERS = {"responses": _responses, "chat_completions": _completion, "messages": _message}


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Vendors, str]]:
    vendors = Vendors()
    paths = ("/{endpoint}/v1/responses", "/{endpoint}/v1/chat/completions", "/{endpoint}/v1/messages")
    app = Starlette(routes=[Route(path, vendors.answer, methods=["POST"]) for path in paths])
    async with serve(app) as url:
        yield vendors, url


def write_repository(folder: Path, url: str) -> Path:
    """Write a workflow for each model; its name is the word that starts it."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    endpoints = {role: {"base_url": f"{url}/{role}/v1", "api": model.api} for role, model in MODELS.items()}
    models = {role: [{"name": model.name, "endpoint": role, **_keys(model)}] for role, model in MODELS.items()}
    (agents / "defaults.yaml").write_text(yaml.safe_dump({"endpoints": endpoints, "models": models}))
    for role in MODELS:
        when = [{"slack.message": {"channels": "any", "says": f"*{role}!*"}}]
        workflow = {"description": "d", "owner": "#helpers", "when": when, "model": role}
        (agents / f"{role}.yaml").write_text(yaml.safe_dump(workflow))
        (agents / f"{role}.md").write_text("Look, then answer.")
    return agents


def _keys(model: Played) -> Mapping[str, object]:
    """Return the effort of a model, and the price of its vendor, which a simulated endpoint lacks."""
    reasoning = {"reasoning": {"effort": model.effort}} if model.effort else {}
    if not model.base_url:
        return reasoning
    found = look_up(model.name, model.base_url)
    assert found is not None
    assert found.price is not None
    price = found.price.to_json()
    names = ("input", "cached_input", "cache_write", "cache_write_long", "output")
    return {**reasoning, "price": {name: price[name] for name in names if name in price}}


@dataclass
class Bill:
    """The run of one model: what its endpoint got and reported, and what Gofer recorded."""

    model: Played
    requests: Sequence[Mapping[str, Any]]
    usages: Sequence[Mapping[str, object]]
    run: Progress

    @property
    def effort(self) -> str:
        """The effort in the bytes that were sent, the same in each request."""
        body = self.requests[0]
        asked = (body.get("reasoning"), {"effort": body.get("reasoning_effort")}, body.get("output_config"))
        return next((one["effort"] for one in asked if one and one.get("effort")), "none sent")

    @property
    def owed(self) -> float | None:
        """The US dollars of the run by the price library; None on an own machine."""
        if not self.model.base_url:
            return None
        return sum(billed(self.model.name, self.model.base_url, usage) for usage in self.usages)


async def bills(folder: Path) -> Mapping[str, Bill]:
    """Play the run with each model; return the bills by role."""
    found: dict[str, Bill] = {}
    async with serving() as (vendors, url):
        agents = write_repository(folder, url)
        listed = ",".join(f"{url}/{role}/v1" for role in MODELS)
        async with company(
            folder, root=agents.parent, world=world(), MODEL_BASE_URLS=listed, OPENAI_API_KEY=""
        ) as made:
            for number, (role, model) in enumerate(MODELS.items(), 1):
                await made.slack.say(CAPTAIN, DEPLOYS, f"Here {role}! what is this?")
                heads = await made.ended(number)
                run = progress.project(await made.journal(heads[-1].run))
                found[role] = Bill(model, vendors.requests[role], vendors.usages[role], run)
    return found


def rows(found: Mapping[str, Bill]) -> list[list[str]]:
    """Return the table, one row a model."""
    return [_row(bill) for bill in found.values()]


def _row(bill: Bill) -> list[str]:
    usage = bill.run.usage
    counts = (usage.input_tokens, usage.cached_tokens, usage.written_tokens, usage.output_tokens)
    calls = sum(call.partition("/")[0] == call for call in bill.run.outcomes)
    return [
        f"`{bill.model.name}`",
        f"`{bill.model.api}`",
        bill.effort,
        str(calls),
        *(f"{count:,}" for count in counts),
        "not known" if bill.run.cost_usd is None else f"{bill.run.cost_usd:.6f}",
        "own machine" if bill.owed is None else f"{bill.owed:.6f}",
    ]
