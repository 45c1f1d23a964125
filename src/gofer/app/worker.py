"""The construction of a worker from models, tools, prices and stores."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from gofer.app.model_endpoints import ModelAccess
from gofer.app.settings import Settings
from gofer.app.toolbox import build_tools
from gofer.engine.drift import Drift, log_drift
from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.files.child import Children
from gofer.files.document import BYTES, Fitted, fitted, pages_of
from gofer.models.served_model import stand_in_prices
from gofer.runtime.reviews.reviewer import Reviewer
from gofer.runtime.run_reports import Observers
from gofer.runtime.telemetry.exporter import TIMEOUT, Exporter
from gofer.runtime.weekly.stored_statistics import StoredStatistics
from gofer.runtime.worker import LiveCatalog, Worker, WorkerLimits
from gofer.sources.registry import own_hosts
from gofer.stores.one_place import Stores
from gofer.tools.company import CompanyTool, unusable_tools
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Http, Outside

_log = logging.getLogger(__name__)
UNOBSERVED = Observers()
"""The observers of a worker in a process without measurements."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation of Gofer: its state, key and address, and its access to the outside world."""

    stores: Stores
    key: InstallationKey
    """The key from which the ids and tokens of this installation are derived."""
    links: Links
    outside: Outside
    alone: bool
    """Whether a lock excludes every other worker."""
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class ChildProcesses:
    """The limited child processes of a worker. The caller that made them closes them."""

    documents: Children
    """Children that read and convert bytes."""
    python: Children | None = None
    """Children that run the code of models. None makes the tools start their own."""


def build_worker(
    settings: Settings,
    installation: Installation,
    workflows: LiveCatalog,
    models: ModelAccess,
    children: ChildProcesses,
    *,
    limits: WorkerLimits | None = None,
    observers: Observers = UNOBSERVED,
    report_drift: Callable[[Drift], None] = log_drift,
    company: Sequence[CompanyTool] = (),
    reviewer: Reviewer | None = None,
) -> Worker:
    """Return the worker of an installation.

    The worker notifies `observers` of runs that begin and end, and calls `report_drift` for each drift of a run's
    context. `company` holds the tools of `tools/`. `reviewer` reviews ended runs.
    """
    fit, pages = _image_functions(children.documents)
    statistics = StoredStatistics(installation.stores.journals, workflows.holding)
    services = Services(
        stores=installation.stores,
        model=models.default,
        tools=build_tools(settings, children.documents, children.python, company, statistics),
        fit=fit,
        pages=pages,
        prices=stand_in_prices(),
        reach=models.reach,
        links=replace(installation.links, hosts=installation.links.hosts | own_hosts(settings.sources)),
        outside=installation.outside,
        patience=installation.patience,
        installation_key=installation.key,
        report_drift=report_drift,
        exports_spans=bool(settings.otlp.url),
    )
    exporter = None
    if settings.otlp.url:
        exporter = build_exporter(settings, installation.outside.http)
    return Worker(
        services,
        workflows,
        alone=installation.alone,
        limits=limits or WorkerLimits(),
        observers=replace(observers, exporter=exporter),
        reviewer=reviewer,
    )


def log_unusable(company: Sequence[CompanyTool]) -> None:
    """Log each reason why tools of a company cannot be used, once for a process."""
    for reason, names in unusable_tools(company).items():
        _log.error("tools that cannot be used: %s (%s)", ", ".join(names), reason)


def build_exporter(settings: Settings, http: Http) -> Exporter:
    """Return the exporter that sends the spans of runs to the collector in the settings."""
    otlp = settings.otlp
    full = settings.log_level == "full"
    # Every process knows GOFER_URL, but not the address that another one listens on. A span that is exported again
    # must have the same bytes.
    return Exporter(
        otlp.url,
        otlp.headers,
        otlp.resource,
        http,
        full,
        settings.public_url,
        minimal=settings.log_level == "minimal",
        timeout=otlp.timeout or TIMEOUT,
    )


def _image_functions(
    children: Children,
) -> tuple[Callable[[bytes, int], Awaitable[Fitted]], Callable[[bytes], Awaitable[int]]]:
    """Return two functions: one fits an image to a model's limits, the other counts the pages of a PDF."""

    async def fit(image: bytes, most: int) -> Fitted:
        return await fitted(children, image, most=min(most, BYTES))

    async def pages(content: bytes) -> int:
        return await pages_of(children, content)

    return fit, pages
