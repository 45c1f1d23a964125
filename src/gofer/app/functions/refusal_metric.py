"""The metric of refusals by Slack that keep the pages closed until the operator mends something."""

from aws_lambda_powertools.metrics import Metrics, MetricUnit

from gofer.sources.slack.page_requests import SlackRefused

NAMESPACE = "Gofer"


def count_refusal(refused: SlackRefused) -> None:
    """Count one; the log line beside it names the call and the code."""
    metrics = Metrics(namespace=NAMESPACE)
    metrics.add_metric("SignInRefused", MetricUnit.Count, 1)
    metrics.flush_metrics()
