"""How is Gofer on AWS opened: the clients, and the stores over them?"""

from dataclasses import dataclass
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingTypeStubs]

from gofer.aws import THREADS, Aws
from gofer.blobs.s3 import S3Blobs
from gofer.bootstrap.aws_settings import AwsSettings as AwsSettings
from gofer.bootstrap.aws_settings import CloudSettings as CloudSettings
from gofer.bootstrap.aws_settings import aws_settings as aws_settings
from gofer.bootstrap.aws_settings import cloud_settings as cloud_settings
from gofer.errors import ConfigError
from gofer.journal.dynamo_client import DynamoTable
from gofer.journal.dynamodb import DynamoStore
from gofer.outside import Clock
from gofer.queue.sqs import SqsQueue

_READ_TIMEOUT, _POLL_TIMEOUT = 5, 25
"""Seconds for an answer; SQS takes up to 20 to say that nobody rang."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """The state of a Gofer on AWS."""

    store: DynamoStore
    blobs: S3Blobs
    queue: SqsQueue
    aws: Aws
    """Counts the requests of all three."""

    def close(self) -> None:
        """Waits for what is under way."""
        self.aws.close()


def open_cloud(
    settings: CloudSettings, clock: Clock, *, threads: int = THREADS, session: boto3.Session | None = None
) -> Cloud:
    """The stores; nothing is asked of AWS yet. `threads` is how many requests are under way at once."""
    aws, session = Aws(threads), session or boto3.Session(region_name=settings.region or None)

    def client(name: str, timeout: int = _READ_TIMEOUT) -> Any:
        return build_client(session, name, settings.endpoint, timeout, threads)

    store = DynamoStore(DynamoTable(aws, client("dynamodb"), settings.table))
    queue = SqsQueue(aws, client("sqs", _POLL_TIMEOUT), settings.queue_url, settings.dead_letter_url, clock)
    return Cloud(store, S3Blobs(aws, client("s3"), settings.bucket), queue, aws)


def build_client(
    session: boto3.Session, name: str, endpoint: str, timeout: int = _READ_TIMEOUT, threads: int = THREADS
) -> Any:
    """A client of boto3 that does not wait for a minute, tries three times, and has a connection for each thread.

    Raises ConfigError when nothing says in which Region.
    """
    config = Config(
        connect_timeout=2,
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": 3},
        max_pool_connections=threads,
        parameter_validation=False,
    )
    try:
        return cast(Any, session).client(name, config=config, endpoint_url=endpoint or None)
    except BotoCoreError as error:
        raise ConfigError(f"AWS cannot be asked ({type(error).__name__}); set AWS_REGION and AWS_PROFILE.") from error
