"""The DNS suffixes of all Regions, compared with botocore's own data."""

import json
import re
from pathlib import Path

import botocore
import pytest

from gofer.app.functions.aws_http import Account
from gofer.app.functions.dns_suffixes import dns_suffix
from gofer.values.secret import Secret

PARTITIONS = json.loads((Path(botocore.__file__).parent / "data" / "partitions.json").read_text())["partitions"]
REGIONS = [
    (region, partition["outputs"]["dnsSuffix"])
    for partition in PARTITIONS
    for region in partition["regions"]
    if re.fullmatch(partition["regionRegex"], region)
]


@pytest.mark.parametrize(("region", "suffix"), REGIONS)
def test_suffix_of_each_known_region_is_that_of_its_partition(region: str, suffix: str) -> None:
    assert dns_suffix(region) == suffix


def test_botocore_knows_regions_of_each_partition_with_a_suffix_of_its_own() -> None:
    assert {suffix for _, suffix in REGIONS} >= {"amazonaws.com", "amazonaws.com.cn", "c2s.ic.gov", "amazonaws.eu"}


@pytest.mark.parametrize(
    ("region", "bucket", "origin"),
    [
        ("eu-central-1", "", "https://sqs.eu-central-1.amazonaws.com"),
        ("us-gov-west-1", "", "https://sqs.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "bodies", "https://bodies.sqs.cn-north-1.amazonaws.com.cn"),
        ("us-iso-east-1", "", "https://sqs.us-iso-east-1.c2s.ic.gov"),
    ],
)
def test_receiver_sends_requests_to_the_hosts_of_its_partition(region: str, bucket: str, origin: str) -> None:
    account = Account("id", Secret("key"), token="", region=region, endpoint="")
    assert account.origin("sqs", bucket) == origin
