"""In how many days does a token expire? What no API tells of one, an operator has written down."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime

from aws_lambda_powertools.metrics import Metrics, MetricUnit

NAMESPACE = "Gofer"


def measuring_tokens(days: Mapping[str, date]) -> Callable[[float], None]:
    """Says how long each token is still good, below zero when it is not any more; gets the time in unix seconds."""

    def measure(now: float) -> None:
        today = datetime.fromtimestamp(now, UTC).date()
        for last in days.values():
            metrics = Metrics(namespace=NAMESPACE)
            metrics.add_metric("TokenExpiresInDays", MetricUnit.NoUnit, (last - today).days)
            metrics.flush_metrics()

    return measure
