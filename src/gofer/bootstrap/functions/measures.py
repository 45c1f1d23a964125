"""What is measured of a function's work? Embedded metrics: lines that CloudWatch reads numbers from.

Dimensions are bounded: the service, the status of a run, and the cause and the system outside of an end that no list
shows. No run, workflow or person is one.
"""

from collections.abc import Callable

from aws_lambda_powertools.metrics import Metrics, MetricUnit, single_metric

from gofer.models.abilities import Abilities
from gofer.worker import Ended

NAMESPACE = "Gofer"


def measuring(abilities: Abilities) -> Callable[[Ended], None]:
    """Says the numbers of each run that ended."""

    def measure(ended: Ended) -> None:
        with single_metric("RunsEnded", MetricUnit.Count, 1, namespace=NAMESPACE) as metric:
            metric.add_dimension("status", ended.status)
        metrics = Metrics(namespace=NAMESPACE)
        metrics.add_metric("RunSeconds", MetricUnit.Seconds, ended.seconds)
        if progress := ended.progress:
            if (utilisation := abilities.utilisation(progress.largest)) is not None:
                metrics.add_metric("PeakContextUtilisation", MetricUnit.Percent, round(100 * utilisation, 2))
            if progress.cost_usd is not None:
                metrics.add_metric("CostUsd", MetricUnit.NoUnit, progress.cost_usd)
        match ended.trouble:
            case "poison":
                metrics.add_metric("PoisonRuns", MetricUnit.Count, 1)
            case "damaged":
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

    return measure
