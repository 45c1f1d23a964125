"""The clients of AWS, and the stores over them."""

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
from gofer.stores.aws.queue import SqsQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock

_READ_TIMEOUT = 5
"""Seconds for an answer."""
_POLL_TIMEOUT = 25
"""Seconds for an answer of SQS, which takes up to 20 to answer that the queue is empty."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """The state of a Gofer on AWS."""

    store: DynamoStore
    blobs: S3Blobs
    queue: SqsQueue
    aws: Aws
    """Counts the requests of all three."""

    @property
    def stores(self) -> Stores:
        """Return the three as one value."""
        return Stores(self.store, self.blobs, self.queue)

    def close(self) -> None:
        """Wait for requests that run."""
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
    return Cloud(store, S3Blobs(aws, client("s3"), settings.bucket), queue, aws)


def new_session(region: str | None, profile: str | None = None) -> boto3.Session:
    """Return who asks AWS, and in which Region. Raises BotoCoreError when AWS' configuration is wrong."""
    core = cast(Any, botocore.session.Session(profile=profile))
    core.register_component("data_loader", _descriptions(core.get_config_variable("data_path")))
    return boto3.Session(botocore_session=core, region_name=region or None)


@cache
def _descriptions(folder: str | None) -> Any:
    """Return what the SDK knows of services and Regions, which takes each session a tenth of a second to read."""
    return cast(Any, create_loader)(folder)


def build_client(
    session: boto3.Session, name: str, endpoint: str, timeout: int = _READ_TIMEOUT, threads: int = THREADS
) -> Any:
    """Return a client of boto3 that waits less than a minute, tries three times, and has a connection a thread.

    Raises ConfigError when nothing says in which Region, or AWS' configuration is wrong.
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
    """Return what is wrong with the files and variables that say who asks AWS and where, before any request."""
    match error:
        case NoRegionError():
            told = "Nothing says in which Region of AWS; set AWS_REGION, or `region` in the profile"
        case ProfileNotFound():
            name = cast(Any, error).kwargs["profile"]
            told = f"AWS' configuration has no profile {name!r}; `aws configure list-profiles` shows which it has"
        case BotoCoreError():
            # Its text may hold what a program for credentials printed.
            why = f"cannot be used ({type(error).__name__})"
            told = f"AWS' configuration {why}; correct the profile until `aws sts get-caller-identity` answers"
        case ValueError():
            told = (
                "The address that is set for AWS is no URL; correct AWS_ENDPOINT_URL, or `endpoint_url` in the profile"
            )
    return ConfigError(f"{told}.")
