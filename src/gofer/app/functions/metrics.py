"""What is measured of a function's work? Embedded metrics: lines that CloudWatch reads numbers from.

Dimensions are bounded: the service, the status of a run, and the cause and the system outside of an end that no list
shows. No run, workflow or person is one.
"""

from collections.abc import Mapping

from aws_lambda_powertools.metrics import Metrics, MetricUnit, single_metric

from gofer.models.abilities import utilisation
from gofer.projections.progress import Progress
from gofer.runtime.run_ends import Ended

NAMESPACE = "Gofer"


def measure(ended: Ended) -> None:
    """Write the numbers of a run that ended."""
    with single_metric("RunsEnded", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
        metric.add_dimension("status", ended.status)
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("RunSeconds", MetricUnit.Seconds, ended.seconds)
    if progress := ended.progress:
        _measure_models(metrics, progress, ended.windows)
    match ended.trouble:
        case "poison":
            metrics.add_metric("PoisonRuns", MetricUnit.Count, 1)
        case "corrupt":
            metrics.add_metric("DamagedRuns", MetricUnit.Count, 1)
        case "":
            pass
    if unlisted := ended.unlisted:
        # An alarm counts these: to turn somebody away is no failure.
        if unlisted.cause != "turned_away":
            metrics.add_metric("UnlistedEnds", MetricUnit.Count, 1)
        with single_metric("UnlistedEndsByCause", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
            metric.add_dimension("cause", unlisted.cause)
            metric.add_dimension("system", unlisted.system or "gofer")
    metrics.flush_metrics()


def _measure_models(metrics: Metrics, progress: Progress, windows: Mapping[str, int]) -> None:
    if (share := utilisation(progress.largest, windows)) is not None:
        metrics.add_metric("PeakContextUtilisation", MetricUnit.Percent, round(100 * share, 2))
    if progress.cost_usd is None:
        # Without it a day of unpriced models would look like a day without any.
        metrics.add_metric("RunsWithoutCost", MetricUnit.Count, 1)
    else:
        metrics.add_metric("CostUsd", MetricUnit.NoUnit, progress.cost_usd)
