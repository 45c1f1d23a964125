"""A worker put together: models, tools, prices and stores."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from gofer.app.model_endpoints import ModelAccess
from gofer.app.settings import Settings
from gofer.app.toolbox import build_tools
from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.files.child import Children
from gofer.files.document import BYTES, Fitted, fitted, pages_of
from gofer.models.served_model import stand_in_prices
from gofer.runtime.run_reports import Ended, Observers, ignore_end
from gofer.runtime.telemetry.exporter import TIMEOUT, Exporter
from gofer.runtime.worker import LiveCatalog, Worker, WorkerLimits
from gofer.stores.one_place import Stores
from gofer.tools.company import CompanyTool
from gofer.values.outside import Http, Outside
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True)
class Installation:
    """One Gofer where it is installed: its state, its identity, its address, and the world around it."""

    stores: Stores
    key: Secret
    """The key that ids and tokens of this installation are made with."""
    links: Links
    outside: Outside
    alone: bool
    """Whether a lock keeps every other worker out."""
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class ChildProcesses:
    """The limited children of a worker; their owner closes them."""

    documents: Children
    """Children that read and convert bytes."""
    python: Children | None = None
    """Children that run the code of models; None where no such tool is offered."""


def build_worker(
    settings: Settings,
    installation: Installation,
    workflows: LiveCatalog,
    models: ModelAccess,
    children: ChildProcesses,
    *,
    limits: WorkerLimits | None = None,
    notify: Callable[[Ended], None] = ignore_end,
    company: Sequence[CompanyTool] = (),
) -> Worker:
    """Return the worker of an installation; `notify` is called for each run that ended.

    `company` are the tools of `tools/`.
    """
    fit, pages = _eyes(children.documents)
    services = Services(
        stores=installation.stores,
        model=models.default,
        tools=build_tools(settings, children.documents, children.python, company),
        fit=fit,
        pages=pages,
        prices=stand_in_prices(),
        reach=models.reach,
        links=installation.links,
        outside=installation.outside,
        patience=installation.patience,
        installation_key=installation.key,
    )
    exporter = build_exporter(settings, installation.outside.http) if settings.otlp.url else None
    return Worker(
        services,
        workflows,
        alone=installation.alone,
        limits=limits or WorkerLimits(),
        observers=Observers(notify, exporter),
    )


def build_exporter(settings: Settings, http: Http) -> Exporter:
    """Return what makes spans of runs and sends them where the settings say."""
    otlp = settings.otlp
    full = settings.log_level == "full"
    # Only the address that is the same for everybody: exported again, a span must be what it was.
    return Exporter(otlp.url, otlp.headers, otlp.resource, http, full, settings.public_url, otlp.timeout or TIMEOUT)


def _eyes(
    children: Children,
) -> tuple[Callable[[bytes, int], Awaitable[Fitted]], Callable[[bytes], Awaitable[int]]]:
    """Return what makes images ready for models, and what counts the pages of a PDF before they look at it."""

    async def fit(image: bytes, most: int) -> Fitted:
        return await fitted(children, image, most=min(most, BYTES))

    async def pages(content: bytes) -> int:
        return await pages_of(children, content)

    return fit, pages
