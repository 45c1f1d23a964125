"""The table of eight models at endpoints of their own: the output of `gofer check`, and the request to each.

`PYTHONPATH=tests python -m generators.models_table` writes it into docs/models.md, and the table of
`generators.models_bill`. Tests compare them with the page.
"""

import asyncio
import io
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from generators import models_bill
from gofer.app.catalog import mistakes
from gofer.app.embedded.server import serve
from gofer.check.models import price_text, reads_text
from gofer.journal.entries import LlmRequest, LlmResponse
from gofer.models.price_library import look_up
from gofer.models.served_model import Price, ServedModel
from gofer.sources.workflow_files import load_catalog
from support.app.company import company
from support.app.one_workflow import CAPTAIN, DEPLOYS, world

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN = "<!-- made by tests/generators/models_table.py -->\n"
END = "<!-- until here -->\n"
ENDPOINTS = {
    "team": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
}
"""The endpoints, with the base URL whose prices their models have here: simulated endpoints are free by themselves."""
MODELS: Mapping[str, Mapping[str, object]] = {
    "one": {"name": "gpt-5.4", "endpoint": "team"},
    "two": {"name": "gpt-5.4-mini", "endpoint": "team"},
    "three": {"name": "gpt-4.1", "endpoint": "team", "parameters": {"top_p": 0.5}},
    "four": {"name": "claude-sonnet-4-5", "endpoint": "anthropic"},
    "five": {"name": "claude-haiku-4-5", "endpoint": "anthropic"},
    "six": {"name": "gemini-2.5-flash", "endpoint": "google"},
    "seven": {"name": "gemini-2.5-pro", "endpoint": "google", "window": 1_048_576},
    "eight": {
        "name": "llama-3.3-70b-versatile",
        "endpoint": "groq",
        "price": {"input": 0.59, "output": 0.79},
        "window": 131_072,
    },
}
"""The models by role; three of them override the price list or the table of Gofer."""
USAGE = {"prompt_tokens": 10_000, "completion_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 5_000}}
HEADINGS = (
    "model",
    "endpoint",
    "`gofer check`",
    "USD per million tokens: in, cached, out",
    "window",
    "reads",
    "image sent",
    "PDF sent",
    "cost recorded",
)


@dataclass
class Provider:
    """The server behind all endpoints, which records each request with its path and credential."""

    requests: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    async def answer(self, request: Request) -> JSONResponse:
        body = json.loads(await request.body())
        endpoint = request.path_params["endpoint"]
        self.requests.append((endpoint, request.headers["authorization"], body))
        choices = [{"finish_reason": "stop", "message": {"content": "Seen."}}]
        return JSONResponse({"model": body["model"], "choices": choices, "usage": USAGE})


@dataclass
class Proof:
    """The request that one model got, and the journal entries about it."""

    endpoint: str
    credential: str
    body: Mapping[str, Any]
    request: LlmRequest
    response: LlmResponse

    def holds(self, kind: str) -> bool:
        """Return whether the request has a part of this kind."""
        contents = [message["content"] for message in self.body["messages"]]
        return any(part["type"] == kind for parts in contents if isinstance(parts, list) for part in parts)

    def window(self) -> int:
        """Return the window that the request names."""
        (told,) = re.findall(r"about \d+ tokens of (\d+)", json.dumps(self.body["messages"][-1]))
        return int(told)


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Provider, str]]:
    provider = Provider()
    app = Starlette(routes=[Route("/{endpoint}/v1/chat/completions", provider.answer, methods=["POST"])])
    async with serve(app) as url:
        yield provider, url


def write_repository(folder: Path, url: str) -> Path:
    """Write a workflow for each model; its name is the word that starts it."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    endpoints = {name: {"base_url": f"{url}/{name}/v1", "key": f"MODEL_KEY_{name.upper()}"} for name in ENDPOINTS}
    defaults = {"endpoints": endpoints, "models": {role: [_priced(model)] for role, model in MODELS.items()}}
    (agents / "defaults.yaml").write_text(yaml.safe_dump(defaults))
    for role in MODELS:
        when = [{"slack.message": {"channels": "any", "says": f"*{role}!*"}}]
        # More than any model takes, so that the known limits of the model apply.
        context = {"window": 10_000_000}
        workflow = {"description": "d", "owner": "#helpers", "when": when, "model": role, "context": context}
        (agents / f"{role}.yaml").write_text(yaml.safe_dump(workflow))
        (agents / f"{role}.md").write_text("Look at the file.")
    return agents


def _priced(model: Mapping[str, object]) -> dict[str, object]:
    """Return a model with the price that the file must name, because the library knows no price of its endpoint."""
    price = _listed(str(model["name"]), str(model["endpoint"])).to_json()
    names = ("input", "cached_input", "cache_write", "cache_write_long", "output")
    return {"price": {name: price[name] for name in names if name in price}, **model}


def _listed(name: str, endpoint: str) -> Price:
    found = look_up(name, ENDPOINTS[endpoint])
    assert found is not None
    assert found.price is not None
    return found.price


def image() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (60, 60), "white").save(made, "PNG")
    return made.getvalue()


def pdf() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (60, 60), "white").save(made, "PDF")
    return made.getvalue()


FILES = {"crash.png": ("image/png", image), "deck.pdf": ("application/pdf", pdf)}


async def proofs(folder: Path) -> Mapping[str, Mapping[str, Proof]]:
    """Run every model once with an image and once with a PDF; return the proofs by role and file name."""
    found: dict[str, dict[str, Proof]] = {role: {} for role in MODELS}
    async with serving() as (provider, url):
        agents = write_repository(folder, url)
        settings = {f"MODEL_KEY_{name.upper()}": f"sk-{name}" for name in ENDPOINTS}
        listed = ",".join(f"{url}/{name}/v1" for name in ENDPOINTS)
        async with company(
            folder, root=agents.parent, world=world(), MODEL_BASE_URLS=listed, OPENAI_API_KEY="", **settings
        ) as made:
            for role in MODELS:
                for name, (media_type, content) in FILES.items():
                    text = f"Here {role}! what is this?"
                    await made.slack.upload(CAPTAIN, DEPLOYS, name, content(), text, None, media_type)
                    heads = await made.ended(len(provider.requests) + 1)
                    entries = await made.entries(heads[-1].run)
                    (request,) = [entry for entry in entries if isinstance(entry, LlmRequest)]
                    (response,) = [entry for entry in entries if isinstance(entry, LlmResponse)]
                    found[role][name] = Proof(*provider.requests[-1], request, response)
    return found


def rows(found: Mapping[str, Mapping[str, Proof]], agents: Path) -> list[list[str]]:
    """Return the table, one row a model."""
    served = dict(load_catalog(agents, look_up=look_up).defaults.roles(look_up).every())
    hints = [str(one) for one in mistakes(agents)]
    return [_row(role, served[role], found[role], hints) for role in MODELS]


def _row(role: str, model: ServedModel, seen: Mapping[str, Proof], hints: list[str]) -> list[str]:
    looked = seen["crash.png"]
    said = [hint for hint in hints if f"`{model.name}`" in hint]
    return [
        f"`{looked.body['model']}`",
        f"`{looked.endpoint}`",
        "; ".join(said) or "no mistakes",
        price_text(model.price if "price" in MODELS[role] else _listed(model.name, model.endpoint.name)),
        f"{looked.window():,}",
        reads_text(model),
        "yes" if looked.holds("image_url") else "no",
        "yes" if seen["deck.pdf"].holds("file") else "no",
        "not known" if looked.response.cost_usd is None else f"{looked.response.cost_usd:.6f}",
    ]


def page(table: list[list[str]], text: str, begin: str = BEGIN, headings: Sequence[str] = HEADINGS) -> str:
    """Return the page with the table in its place."""
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(END)
    lines = [headings, ["---"] * len(headings), *table]
    return head + begin + "".join(f"| {' | '.join(line)} |\n" for line in lines) + END + tail


async def made_anew(folder: Path) -> str:
    """Return docs/models.md as it should be."""
    found = await proofs(folder / "models")
    text = page(rows(found, folder / "models" / "repository" / "agents"), PAGE.read_text())
    bills = await models_bill.bills(folder / "bills")
    return page(models_bill.rows(bills), text, models_bill.BEGIN, models_bill.HEADINGS)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(asyncio.run(made_anew(Path(scratch))))
    sys.exit()
