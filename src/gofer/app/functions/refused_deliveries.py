"""The metric of refused deliveries, which an alarm counts. Its only dimension is the service."""

from aws_lambda_powertools.metrics import Metrics, MetricUnit

NAMESPACE = "Gofer"


def count_refused(count: int) -> None:
    """Count deliveries that a receiver refused or could not store."""
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("RefusedDeliveries", MetricUnit.Count, count)
    metrics.flush_metrics()
