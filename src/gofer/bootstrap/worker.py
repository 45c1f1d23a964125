"""How is a worker put together: the model, the tools, the prices and the stores?"""

from collections.abc import Awaitable, Callable
from functools import partial

import httpx2
from openai import AsyncOpenAI

from gofer.blobs.store import Blobs
from gofer.bootstrap.catalog import build_tools
from gofer.bootstrap.settings import Settings
from gofer.engine.services import Links, Services
from gofer.errors import ConfigError
from gofer.files.child import Children
from gofer.files.document import pages_to_look_at
from gofer.files.image import BYTES, Fitted, fitted
from gofer.journal.store import Store
from gofer.models.model import Model
from gofer.models.openai import OpenAIModel
from gofer.models.prices import load_prices
from gofer.outside import Http, Outside
from gofer.queue.doorbell import Queue
from gofer.secret import Secret
from gofer.telemetry.exporter import Exporter
from gofer.worker import Worker
from gofer.workflows.load import Catalog


def build_model(settings: Settings, http: httpx2.AsyncClient) -> Model:
    """The model behind the endpoint of the settings. Raises ConfigError when none is set up."""
    if not settings.has_model:
        raise ConfigError("No model is set up; set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible endpoint.")
    client = AsyncOpenAI(
        api_key=settings.openai_api_key.reveal() or "none",
        base_url=settings.openai_base_url or "https://api.openai.com/v1",
        http_client=http,
        max_retries=0,
    )
    return OpenAIModel(client)


def _eyes(
    children: Children,
) -> tuple[Callable[[bytes, int], Awaitable[Fitted]], Callable[[bytes], Awaitable[int]]]:
    """What makes images ready for models, and what opens PDFs before they do."""

    async def fit(image: bytes, most: int) -> Fitted:
        return await fitted(children, image, most=min(most, BYTES))

    return fit, partial(pages_to_look_at, children)


def build_worker(
    settings: Settings,
    catalog: Catalog,
    store: Store,
    blobs: Blobs,
    queue: Queue,
    model: Model,
    outside: Outside,
    base_url: str,
    key: Secret,
    children: Children,
    *,
    alone: bool,
) -> Worker:
    """A worker over given stores and a given model; `alone` when a lock keeps every other worker out.

    `children` do what is dangerous on bytes; whoever made them closes them after the worker.
    """
    fit, open_pdf = _eyes(children)
    services = Services(
        store=store,
        blobs=blobs,
        model=model,
        tools=build_tools(settings, children),
        fit=fit,
        open_pdf=open_pdf,
        prices=load_prices(),
        links=Links(base_url, catalog.defaults.prompt_links),
        outside=outside,
        scripts=catalog.scripts,
        installation_key=key,
    )
    exporter = build_exporter(settings, outside.http) if settings.otlp.url else None
    return Worker(services, queue, catalog, alone=alone, exporter=exporter)


def build_exporter(settings: Settings, http: Http) -> Exporter:
    """What makes spans of runs, and sends them where the settings say."""
    otlp, full = settings.otlp, settings.log_level == "full"
    # Only the address that is the same for everybody: exported again, a span must be what it was.
    return Exporter(otlp.url, otlp.headers, otlp.resource, http, full, settings.public_url)
