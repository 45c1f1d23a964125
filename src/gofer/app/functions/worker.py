"""The construction of the worker function, and its metrics.

Clients and stores are made once, and the worker is made again when a setting changes. It loads whole published bundles,
with the scripts that were deployed with it. Metrics are log lines in CloudWatch's embedded metric format. Their
dimensions are bounded: the service, the status of a run, the name of a failed check, the cause and the system of an
unlisted end, and the cause of a drift. No run, workflow or person is a dimension.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from aws_lambda_powertools.metrics import Metrics, MetricUnit, single_metric

from gofer.app.aws.settings import aws_settings
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.parameter_store import open_stage
from gofer.app.functions.parameters import SYSTEMS, Following, Parameters
from gofer.app.functions.worker_batch import LEAVE, Working
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import models_of
from gofer.app.worker import ChildProcesses, Installation, build_worker, log_unusable
from gofer.engine.drift import Drift, log_drift
from gofer.engine.effects import Patience
from gofer.engine.services import Links
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.coordination import HeadStatus
from gofer.projections.progress import Progress
from gofer.projections.requests.context import Utilisation
from gofer.runtime.reviews.reviewer import Reviewer
from gofer.runtime.run_reports import Ended, Observers, checks_to_report
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.sources.workflow_files import WorkflowForm, load_catalog
from gofer.tools.company import load_company
from gofer.values.errors import TemporaryError
from gofer.values.outside import Clock
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.publication import AGENTS, LiveCatalog, read_catalog
from gofer.workflows.published import BundleStore, Live, bundle_key

NAMESPACE = "Gofer"
FAILED: frozenset[HeadStatus] = frozenset({"failed", "needs_attention"})
"""The statuses of runs that ended because something is broken."""


def measure(ended: Ended) -> None:
    """Write the metrics of a run that ended."""
    with single_metric("RunsEnded", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
        metric.add_dimension("status", ended.status)
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("RunSeconds", MetricUnit.Seconds, ended.seconds)
    if ended.status != "ignored":
        # The sum is the number of failed runs, and the number of values that of all runs: two alarms for one metric.
        metrics.add_metric("RunFailed", MetricUnit.Count, int(ended.status in FAILED))
    if progress := ended.progress:
        _measure_cost(metrics, progress)
        if not ended.is_private:
            _measure_context(metrics, ended.utilisation)
            _measure_checks(metrics, progress)
    match ended.trouble:
        case "poison":
            metrics.add_metric("PoisonRuns", MetricUnit.Count, 1)
        case "corrupt":
            metrics.add_metric("CorruptRuns", MetricUnit.Count, 1)
        case "":
            pass
    if unlisted := ended.unlisted:
        # An alarm counts this metric, and turning a person away is not a failure.
        if unlisted.cause != "turned_away":
            metrics.add_metric("UnlistedEnds", MetricUnit.Count, 1)
        with single_metric("UnlistedEndsByCause", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
            metric.add_dimension("cause", unlisted.cause)
            metric.add_dimension("system", unlisted.system or "gofer")
    metrics.flush_metrics()


def _measure_context(metrics: Metrics, utilisation: Utilisation | None) -> None:
    if utilisation is not None and utilisation.shares:
        metrics.add_metric("PeakContextUtilisation", MetricUnit.Percent, round(100 * utilisation.peak, 2))


def _measure_cost(metrics: Metrics, progress: Progress) -> None:
    if progress.cost_usd is not None:
        metrics.add_metric("CostUsd", MetricUnit.NoUnit, progress.cost_usd)
        return
    # Without these counts, a day of models without prices would look like a day without models.
    metrics.add_metric("RunsWithoutCost", MetricUnit.Count, 1)
    tokens = progress.usage.input_tokens + progress.usage.output_tokens
    metrics.add_metric("TokensWithoutCost", MetricUnit.Count, tokens)
    # The calls of other models have a price.
    if progress.spent_usd:
        metrics.add_metric("CostUsd", MetricUnit.NoUnit, progress.spent_usd)


def _measure_checks(metrics: Metrics, progress: Progress) -> None:
    failed = checks_to_report(progress)
    for verdict in failed:
        with single_metric("ChecksFailed", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
            metric.add_dimension("check", verdict.check)
    # The alarm counts this metric, because CloudWatch does not add up the values of a dimension.
    if errors := sum(verdict.severity == "error" for verdict in failed):
        metrics.add_metric("CheckErrors", MetricUnit.Count, errors)


def measure_start(seconds: float) -> None:
    """Write how many seconds a run waited from its acceptance to its first owner."""
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("SecondsToBegin", MetricUnit.Seconds, seconds)
    metrics.flush_metrics()


def measure_outage() -> None:
    """Count a queue message that came back because a store did not answer or refused the worker."""
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("NotContinued", MetricUnit.Count, 1)
    metrics.flush_metrics()


def measure_drift(drift: Drift) -> None:
    """Log the drift of a run's context, and write its metrics. An alarm counts `ContextDrift`."""
    log_drift(drift)
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("ContextDrift", MetricUnit.Count, 1)
    metrics.flush_metrics()
    with single_metric("ContextDriftByCause", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
        metric.add_dimension("cause", drift.cause)


def live_catalog(bundles: BundleStore, clock: Clock, code: Path) -> LiveCatalog:
    """Return the published workflows for a worker. `code` is the folder of the package, with `coordinators/`.

    The package's own `agents/`, if there are any, are used until the first publication.
    """

    def load(raw: bytes) -> Catalog:
        return read_catalog(raw, code, WorkflowForm)

    packaged = None
    if (code / AGENTS).is_dir():
        packaged = load_catalog(code / AGENTS)
    return LiveCatalog(Live(bundles, clock, bundle_key, load, packaged))


_log = logging.getLogger(__name__)

OWN = 512
"""Megabytes for the worker itself: 120 when idle, 80 for its two helpers, the rest for ten conversations."""
PLACE = 512
"""The most megabytes that one child may take: see `files.child.MEMORY` and `sandbox.python.MEMORY`."""
MOST = 4
"""The most children at once, because more of them would only wait for processors."""


def places(environment: Mapping[str, str]) -> int:
    """Return how many children fit into the memory of the function at once, or 1 if its memory is unknown."""
    size = environment.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    if not (size.isascii() and size.isdecimal()):
        return 1
    return min(MOST, max(1, (int(size) - OWN) // PLACE))


def children(environment: Mapping[str, str]) -> tuple[Children, Children]:
    """Return the children that read documents and those that run code. Each process starts with its first job."""
    count = places(environment)
    shared = threading.Semaphore(count)
    # Lambda's interpreter needs this variable to find its libraries. Children get no other variable.
    libraries = environment.get("LD_LIBRARY_PATH", "")
    variables = None
    if libraries:
        variables = {"LD_LIBRARY_PATH": libraries}
    return Children(at_once=count, environment=variables, places=shared), sandbox(variables, shared)


RECEIVES = 5
"""How often SQS delivers a message before it becomes a dead letter. template.yaml sets the same number."""
LEASE = 60.0
SLOTS = 10
"""The most conversations at once without GOFER_CONCURRENCY, which template.yaml sets to `BatchSize`."""


def worker_function(
    ground: Ground, patience: Patience | None = None, *, lease: float = LEASE, leave: float = LEAVE
) -> Handler:
    """Return the function that continues runs.

    Shorter waits than the defaults are only safe where no message, lease or answer can be late, as in tests.
    """
    cloud, parameters = open_stage(ground)
    company = load_company(ground.package)
    log_unusable(company)
    names = sorted({name for tool in company for name in tool.variables})
    live = live_catalog(ground.bundles(), ground.clock, ground.package)
    reading, python = children(ground.environment)
    for processes in (reading, python):
        ground.kept.callback(processes.close)
    http = http_client(DIRECT)

    def key_in(variable: str) -> Secret:
        # The role of the function may read parameters by name only, not by path.
        return Secret(parameters.values_of([variable]).get(variable, "").strip())

    def make(environment: Mapping[str, str]) -> Worker:
        known = aws_settings(environment)
        url = known.settings.public_url
        installation = Installation(
            stores=cloud.stores,
            key=known.installation_key,
            # Without GOFER_URL there is no known page where a person could sign in.
            links=Links(url, signs_in=bool(url)),
            outside=ground.outside(SharedHttp(http)),
            alone=False,
            patience=patience or Patience(),
        )
        return build_worker(
            known.settings,
            installation,
            live,
            models_of(known.settings, http, key_in),
            ChildProcesses(reading, python),
            limits=WorkerLimits(known.settings.concurrency or SLOTS, lease=lease, receives=RECEIVES),
            observers=Observers(measure, notify_start=measure_start, notify_outage=measure_outage),
            report_drift=measure_drift,
            company=company,
            reviewer=Reviewer(),
        )

    following = Following(make)

    async def current() -> Worker:
        return following.current(lambda: settings_of(parameters, names))

    return ground.handler(Working(current, cloud.queue, cloud.offers, leave).answer)


def settings_of(parameters: Parameters, names: Sequence[str]) -> Mapping[str, str]:
    """Return the settings of a worker and the variables that a company's tools name. Raises TemporaryError."""
    try:
        return parameters.values_of([*SYSTEMS, *names])
    except TemporaryError:
        known = parameters.values_of(SYSTEMS)
        # Parameter Store answers, so it refused a name of a tool.
        return {**named_by_tools(parameters, names), **known}


def named_by_tools(parameters: Parameters, names: Sequence[str]) -> Mapping[str, str]:
    """Return the readable variables among those that a company's tools name.

    A tool that lacks a variable refuses its calls, and everything else works.
    """
    try:
        return parameters.values_of(names)
    except TemporaryError:
        # Parameter Store refuses the whole request if the role may not read one of its names.
        readable = [name for name in names if _is_readable(parameters, name)]
        return parameters.values_of(readable)


def _is_readable(parameters: Parameters, name: str) -> bool:
    """Return whether a variable can be read. If it cannot, log the reason."""
    try:
        parameters.values_of([name])
    except TemporaryError as error:
        hint = "List it under ReadSettings of the worker in template.yaml."
        _log.error("the variable %s of tools/ cannot be read: %s %s", name, error, hint)
        return False
    return True
