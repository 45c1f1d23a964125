"""The cost of a million runs on AWS without tokens, from counted requests, durations and a table of prices."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.aws.template import written

PRICES: Mapping[str, float] = json.loads(Path(__file__).with_name("aws_prices.json").read_text())["usd"]
"""USD for each unit; edit the file when AWS changes its list."""
RUNS = 1_000_000
AIM, ONE_AT_A_TIME = 200, 1_100
"""USD per million runs: the aim, and the cost with one run per invocation."""


@dataclass(frozen=True, slots=True)
class Work:
    """Average requests of one run to AWS."""

    writes: float
    """Write units of DynamoDB."""
    reads: float
    """Read units of DynamoDB."""
    puts: float
    """Requests to S3 that write or list."""
    gets: float
    """Requests to S3 that read."""
    messages: float
    """Requests to SQS."""
    stored_gb: float = 0.0
    """Gigabytes that stay in the table for a month."""


@dataclass(frozen=True, slots=True)
class Compute:
    """Billed Lambda time of one run."""

    milliseconds: float
    """Billed milliseconds of the worker's environments, divided by the runs that they had in flight."""
    memory_mb: int
    invocations: float = 1.0
    """Of the worker; a batch of ten runs is a tenth for each."""
    ingress_milliseconds: float = 30.0
    ingress_mb: int = 1_024
    log_kb: float = 2.0


def usd_per_million(work: Work, compute: Compute) -> Mapping[str, float]:
    """Return the USD of a million runs by part."""
    price = PRICES
    seconds = compute.milliseconds / 1_000 * compute.memory_mb / 1_024
    seconds_of_ingress = compute.ingress_milliseconds / 1_000 * compute.ingress_mb / 1_024
    each = {
        "worker": seconds * price["lambda_gb_second_arm64"] + compute.invocations * price["lambda_request"],
        "ingress": seconds_of_ingress * price["lambda_gb_second_arm64"]
        + price["lambda_request"]
        + price["http_api_request"],
        "DynamoDB writes": work.writes * price["dynamodb_write_unit"],
        "DynamoDB reads": work.reads * price["dynamodb_read_unit"],
        "DynamoDB storage": work.stored_gb * price["dynamodb_gb_month"],
        "S3": work.puts * price["s3_put_or_list"] + work.gets * price["s3_get"],
        "SQS": work.messages * price["sqs_request"],
        "logs": compute.log_kb / 1e6 * price["log_gb"],
    }
    return {part: usd * RUNS for part, usd in each.items()}


def usd_of(work: Work) -> float:
    """Return the USD per million runs for the requests to the stores."""
    parts = usd_per_million(work, Compute(0, 0, invocations=0))
    return sum(usd for name, usd in parts.items() if name.startswith(("DynamoDB", "S3", "SQS")))


def memory_mb(function: str) -> int:
    """Return the memory of a function in template.yaml."""
    template = written()
    own = template["Resources"][function]["Properties"].get("MemorySize", template["Globals"]["Function"]["MemorySize"])
    return own if isinstance(own, int) else template["Parameters"][own["Ref"]]["Default"]
