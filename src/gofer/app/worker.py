"""A worker put together: models, tools, prices and stores."""

from collections.abc import Awaitable, Callable, Sequence

from gofer.app.settings import Settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import Links, Services, refuse_all
from gofer.files.child import Children
from gofer.files.document import pages_of
from gofer.files.image import BYTES, Fitted, fitted
from gofer.journal.blob_store import Blobs
from gofer.journal.store import Store
from gofer.models.language_model import Model
from gofer.models.prices import stand_in_prices
from gofer.models.served_model import Endpoint
from gofer.runtime.telemetry.exporter import TIMEOUT, Exporter
from gofer.runtime.worker import Worker
from gofer.stores.queue import Queue
from gofer.tools.company import CompanyTool
from gofer.values.outside import Http, Outside
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog


def _eyes(
    children: Children,
) -> tuple[Callable[[bytes, int], Awaitable[Fitted]], Callable[[bytes], Awaitable[int]]]:
    """What makes images ready for models, and what counts the pages of a PDF before they look at it."""

    async def fit(image: bytes, most: int) -> Fitted:
        return await fitted(children, image, most=min(most, BYTES))

    async def pages(content: bytes) -> int:
        return await pages_of(children, content)

    return fit, pages


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
    python: Children | None = None,
    reach: Callable[[Endpoint], Model] | None = None,
    company: Sequence[CompanyTool] = (),
) -> Worker:
    """A worker over given stores and a given model; `alone` when a lock keeps every other worker out.

    `reach` opens the models behind endpoints that the files name; without it there are none. `children` do what is
    dangerous on bytes, and `python` runs the code of models; the caller closes both. `company` are the tools of
    `tools/`.
    """
    fit, pages = _eyes(children)
    services = Services(
        store=store,
        blobs=blobs,
        model=model,
        tools=build_tools(settings, children, python, company),
        fit=fit,
        pages=pages,
        prices=stand_in_prices(),
        reach=reach or refuse_all,
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
    return Exporter(otlp.url, otlp.headers, otlp.resource, http, full, settings.public_url, otlp.timeout or TIMEOUT)
