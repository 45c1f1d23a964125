"""The boto3 clients of AWS, and the stores that use them."""

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
import botocore.session  # pyright: ignore[reportMissingTypeStubs]
from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    NoRegionError,
    ProfileNotFound,
)
from botocore.loaders import create_loader  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from gofer.app.aws.settings import CloudSettings
from gofer.stores.aws.blobs import S3Blobs
from gofer.stores.aws.calls import THREADS, Aws
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.offers import SqsOffers
from gofer.stores.aws.queue import SqsQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock

_READ_TIMEOUT = 5
"""Seconds for an answer."""
_POLL_TIMEOUT = 25
"""Seconds to wait for SQS, which takes up to 20 seconds to report an empty queue."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """The state of a Gofer on AWS."""

    store: DynamoStore
    blobs: S3Blobs
    queue: SqsQueue
    aws: Aws
    """The thread pool for the requests of all of them."""
    offers: SqsOffers | None = None
    """The queue messages that workers offer to each other; None for a process or a stage without that queue."""

    @property
    def stores(self) -> Stores:
        """Return journal, bodies and queue as one value."""
        return Stores(self.store, self.blobs, self.queue)

    def close(self) -> None:
        """Wait for the requests in progress, and close the thread pool."""
        self.aws.close()


def open_cloud(
    settings: CloudSettings, clock: Clock, *, threads: int = THREADS, session: boto3.Session | None = None
) -> Cloud:
    """Return the stores; nothing is asked of AWS yet. `threads` is how many requests run at once."""
    aws = Aws(threads)
    session = session or new_session(settings.region)

    def client(name: str, timeout: int = _READ_TIMEOUT) -> Any:
        return build_client(session, name, settings.endpoint, timeout, threads)

    store = DynamoStore(DynamoTable(aws, client("dynamodb"), settings.table, settings.keys_table))
    queue = SqsQueue(aws, client("sqs", _POLL_TIMEOUT), settings.queue_url, settings.dead_letter_url, clock)
    offers = None
    if settings.offers_url:
        offers = SqsOffers(aws, client("sqs"), settings.offers_url)
    return Cloud(store, S3Blobs(aws, client("s3"), settings.bucket), queue, aws, offers)


def new_session(region: str | None, profile: str | None = None) -> boto3.Session:
    """Return a session with credentials and a Region. Raises BotoCoreError if the AWS configuration is wrong."""
    core = cast(Any, botocore.session.Session(profile=profile))
    core.register_component("data_loader", _descriptions(core.get_config_variable("data_path")))
    return boto3.Session(botocore_session=core, region_name=region or None)


@cache
def _descriptions(folder: str | None) -> Any:
    """Return the SDK's descriptions of services and Regions, cached because reading them takes 100 ms a session."""
    return cast(Any, create_loader)(folder)


def build_client(
    session: boto3.Session, name: str, endpoint: str, timeout: int = _READ_TIMEOUT, threads: int = THREADS
) -> Any:
    """Return a boto3 client that waits less than a minute, tries three times, and has one connection a thread.

    Raises ConfigError if no Region is set or the AWS configuration is wrong.
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
    except (BotoCoreError, ValueError) as error:
        raise misconfigured(error) from error


def misconfigured(error: BotoCoreError | ValueError) -> ConfigError:
    """Return the ConfigError for an AWS configuration that boto3 rejected before any request."""
    match error:
        case NoRegionError():
            message = "No AWS Region is set; set AWS_REGION, or `region` in the profile"
        case ProfileNotFound():
            name = cast(Any, error).kwargs["profile"]
            message = f"The AWS configuration has no profile {name!r}; `aws configure list-profiles` lists the profiles"
        case BotoCoreError():
            # The text of the error may hold the output of a program for credentials.
            problem = f"cannot be used ({type(error).__name__})"
            message = (
                f"The AWS configuration {problem}; correct the profile until `aws sts get-caller-identity` answers"
            )
        case ValueError():
            message = (
                "The endpoint set for AWS is not a URL; correct AWS_ENDPOINT_URL, or `endpoint_url` in the profile"
            )
    return ConfigError(f"{message}.")
