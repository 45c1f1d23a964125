"""AWS on loopback: moto's server, started once for all tests, with new tables, buckets and queues on request."""

import contextlib
import io
import itertools
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer
from moto.sqs.models import sqs_backends
from werkzeug.serving import WSGIRequestHandler

from gofer.app.aws.clients import build_client
from gofer.journal.store import Store
from gofer.stores.aws.blobs import S3Blobs
from gofer.stores.aws.calls import Aws
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import KEYS_TABLE, TABLE, DynamoStore
from gofer.stores.aws.queue import SqsQueue
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.queue import Queue
from support.aws.memory_table import MemoryTable
from support.aws.permissions import Asked, permissions_of
from support.stand_ins import SetClock, any_stores

REGION = "eu-central-1"
RECEIVES = 5
"""The number of receives after which SQS itself makes a queue message a dead letter."""
ASKED: set[Asked] = set()
"""All that was ever asked of this server."""
_numbers = itertools.count(1)


class OneAtATime:
    """An application that answers requests one by one: conditions are atomic on AWS, but not in moto's threads.

    A request that waits for a queue message lets the others pass.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._turn = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        body = b""
        target = environ.get("HTTP_X_AMZ_TARGET")
        if environ.get("CONTENT_LENGTH") and (target or environ["PATH_INFO"].startswith("/schedules/")):
            body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            environ["wsgi.input"] = io.BytesIO(body)
        ASKED.update(permissions_of(environ, body))
        if target == "AmazonSQS.ReceiveMessage" and json.loads(body).get("WaitTimeSeconds"):
            return self._answer(environ, start_response)
        with self._turn:
            return self._answer(environ, start_response)

    def _answer(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with contextlib.closing(self._app(environ, start_response)) as parts:
            return list(parts)


class KeptOpen(WSGIRequestHandler):
    """A handler that keeps connections open, as AWS does, and writes no log."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@cache
def server() -> str:
    """Start moto once and return its address; its thread ends with the process."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    moto.start()
    assert moto._server is not None
    moto._server.app = OneAtATime(moto._server.app)
    moto._server.RequestHandlerClass = KeptOpen
    host, port = moto.get_host_and_port()
    return f"http://{host}:{port}"


@cache
def client(name: str) -> Any:
    """Return a boto3 client for moto."""
    return build_client(_session(), name, server(), 25)


@cache
def _session() -> boto3.Session:
    return boto3.Session("testing", "testing", region_name=REGION)


@cache
def aws() -> Aws:
    """Return the shared AWS access of all tests, which counts requests."""
    return Aws()


def new_table() -> DynamoTable:
    """Create an empty table as the template defines it, with the table of keys."""
    number = next(_numbers)
    client("dynamodb").create_table(TableName=f"table{number}", **TABLE)
    client("dynamodb").create_table(TableName=f"keys{number}", **KEYS_TABLE)
    return DynamoTable(aws(), client("dynamodb"), f"table{number}", f"keys{number}")


def new_bucket() -> str:
    """Create an empty bucket and return its name."""
    name = f"bucket{next(_numbers)}"
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return name


def new_queues() -> tuple[str, str]:
    """Create a queue and its dead-letter queue and return their URLs."""
    number, sqs = next(_numbers), client("sqs")
    dead = sqs.create_queue(QueueName=f"dead{number}")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": RECEIVES})
    return sqs.create_queue(QueueName=f"queue{number}", Attributes={"RedrivePolicy": redrive})["QueueUrl"], dead


def new_offers() -> str:
    """Create a queue of offers and return its URL."""
    return client("sqs").create_queue(QueueName=f"offers{next(_numbers)}")["QueueUrl"]


class MotoClock(SetClock):
    """A clock that moves moto's queues forward, so that no test waits for a visibility timeout."""

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        for queues in sqs_backends.values():
            for queue in queues[REGION].queues.values():
                for message in queue._messages:
                    message.visible_at -= seconds * 1000
                    message.delayed_until -= seconds * 1000


@dataclass
class MotoCloud:
    """The three stores of a Gofer on AWS, all empty."""

    clock: SetClock

    def __post_init__(self) -> None:
        self.bucket = new_bucket()
        self.url, self.dead = new_queues()
        self.offers = new_offers()
        self.table = new_table()
        self.store = DynamoStore(self.table)
        self.blobs = S3Blobs(aws(), client("s3"), self.bucket)
        self.queue = SqsQueue(aws(), client("sqs"), self.url, self.dead, self.clock)


def new_clock(kind: str) -> SetClock:
    """Return a clock for stores of one kind."""
    return MotoClock() if kind == "aws" else SetClock()


@contextmanager
def all_stores(kind: str, folder: Path, clock: SetClock) -> Iterator[tuple[Store, Queue]]:
    """Yield a store and a queue of one kind: `memory`, `sqlite`, `table` (DynamoDB in memory) or `aws`."""
    if kind == "table":
        yield DynamoStore(MemoryTable()), MemoryQueue(clock)
        return
    if kind == "aws":
        url, dead = new_queues()
        yield DynamoStore(new_table()), SqsQueue(aws(), client("sqs"), url, dead, clock)
        return
    with any_stores(kind, folder, clock) as made:
        yield made
