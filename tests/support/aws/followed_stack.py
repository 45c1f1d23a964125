"""The functions of a stack on moto, run as moto has them configured, from the packages that were built."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moto.sqs.models import sqs_backends

from gofer.stores.aws.blobs import S3Blobs
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.queue import SqsQueue
from support.aws.lambda_host import Function
from support.aws.lambda_stage import Stage
from support.aws.moto_server import REGION, aws, client, server

_ACCOUNT = "123456789012"


def follow(made: Stage, name: str, built: Path) -> None:
    """Give a stage the functions of its stack, with their variables and concurrency, and the stores that they name."""
    prefix = f"gofer-{name}-"
    found = [one for one in client("lambda").list_functions()["Functions"] if one["FunctionName"].startswith(prefix)]
    for one in found:
        function = one["FunctionName"].removeprefix(prefix)
        made.host.add(_function(made, function, one, built))
        made.host.retire(function)
    worker = next(one for one in found if one["FunctionName"] == f"{prefix}worker")
    _name_stores(made, worker["Environment"]["Variables"])
    # The test takes messages from the queue itself. moto would start a container.
    for queue in sqs_backends[_ACCOUNT][REGION].queues.values():
        queue.lambda_event_source_mappings.clear()


def _function(made: Stage, name: str, configured: Mapping[str, Any], built: Path) -> Function:
    reserved = client("lambda").get_function_concurrency(FunctionName=configured["FunctionName"])
    variables = {**configured["Environment"]["Variables"], "AWS_ENDPOINT_URL": server()}
    return Function(
        name,
        configured["Handler"],
        built / f"{name.capitalize()}Function",
        made.code.besides,
        variables | {"AWS_ACCESS_KEY_ID": made.key(name)},
        timeout=float(configured["Timeout"]),
        concurrency=reserved.get("ReservedConcurrentExecutions", 2),
    )


def _name_stores(made: Stage, variables: Mapping[str, str]) -> None:
    cloud = made.cloud
    made.earlier.append(cloud.table)
    cloud.bucket, cloud.url = variables["GOFER_BUCKET"], variables["GOFER_QUEUE_URL"]
    cloud.dead, cloud.offers = variables["GOFER_DEAD_LETTER_URL"], variables["GOFER_OFFERS_URL"]
    cloud.table = DynamoTable(aws(), client("dynamodb"), variables["GOFER_TABLE"], variables["GOFER_KEYS_TABLE"])
    cloud.store = DynamoStore(cloud.table)
    cloud.blobs = S3Blobs(aws(), client("s3"), cloud.bucket)
    cloud.queue = SqsQueue(aws(), client("sqs"), cloud.url, cloud.dead, cloud.clock)
