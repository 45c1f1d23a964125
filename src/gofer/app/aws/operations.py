"""Access to a stage on AWS, for operations commands and for publishing.

A deploy writes the names of its table, bucket, queue and schedules into Parameter Store below `/gofer/<stage>/`. The
commands read nothing else there, because an operator needs none of the secrets.
"""

import contextlib
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.aws.clients import build_client, misconfigured, new_session, open_cloud
from gofer.app.aws.schedules import EventBridge
from gofer.app.aws.settings import cloud_settings
from gofer.app.operations import Operations, Place
from gofer.sources.workflow_files import WorkflowForm
from gofer.stores.aws.calls import Aws, trouble
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from gofer.workflows.publish.publisher import Publisher

NAMES = (
    "GOFER_TABLE",
    "GOFER_KEYS_TABLE",
    "GOFER_BUCKET",
    "GOFER_QUEUE_URL",
    "GOFER_DEAD_LETTER_URL",
    "GOFER_SCHEDULE_GROUP",
    "GOFER_SCHEDULE_ROLE",
    "GOFER_SCHEDULE_TARGET",
)
"""The parameters that are read of a stage, in one request."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The names of a stage's resources, and a session to reach them."""

    variables: Mapping[str, str]
    """The environment, overridden by the parameters of the stage."""
    session: boto3.Session

    def client(self, name: str) -> Any:
        """Return a boto3 client for a service."""
        return build_client(self.session, name, self.variables.get("AWS_ENDPOINT_URL", ""))

    def required(self, *names: str) -> tuple[str, ...]:
        """Return the values of some variables. Raises ConfigError, which names the variables that are not set."""
        if missing := [name for name in names if not self.variables.get(name)]:
            remedy = "name a stage with --stage, or take the values from the outputs of its stack"
            raise ConfigError(f"{' and '.join(missing)} must be set; {remedy}.")
        return tuple(self.variables[name] for name in names)


def open_stage(place: Place) -> Stage:
    """Return the stage of a command. Raises ConfigError for a missing or forbidden stage, TemporaryError."""
    region = place.variables.get("AWS_REGION") or place.variables.get("AWS_DEFAULT_REGION") or None
    profile = place.profile or place.variables.get("AWS_PROFILE") or None
    try:
        session = new_session(region, profile)
    except BotoCoreError as error:
        raise misconfigured(error) from error
    stage = Stage(place.variables, session)
    if place.stage:
        return Stage({**place.variables, **_named(stage, place.stage)}, session)
    return stage


def _named(stage: Stage, name: str) -> Mapping[str, str]:
    if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
        raise ConfigError(f"--stage is {name[:60]!r}; write the name that was deployed, as `prod`.")
    path = f"/gofer/{name}/"
    region = str(cast(Any, stage.session).region_name)
    client = stage.client("ssm")
    try:
        answer = client.get_parameters(Names=[path + parameter for parameter in NAMES])
    except (ClientError, BotoCoreError) as error:
        cause = trouble("get_parameters", error)
        raise type(cause)(f"Stage {name} cannot be looked up in {region}. {cause}") from error
    found = {str(item["Name"]).removeprefix(path): str(item["Value"]) for item in answer["Parameters"]}
    if not found:
        remedy = "Correct --stage, AWS_REGION or --profile, or deploy the stage."
        raise ConfigError(f"There is no stage {name} in {region}: Parameter Store has nothing below {path}. {remedy}")
    return found


_THREADS = 8


@contextlib.contextmanager
def open_operations(place: Place) -> Generator[Operations]:
    """Open the state of a stage. Raises ConfigError for missing settings or a missing stage."""
    stage = open_stage(place)
    clock = SystemClock()
    cloud = open_cloud(cloud_settings(stage.variables), clock, threads=_THREADS, session=stage.session)
    try:
        yield Operations(cloud.stores, clock)
    finally:
        cloud.close()


@contextlib.contextmanager
def open_publisher(place: Place, root: Path) -> Generator[Publisher]:
    """Open a publisher from the repository at `root` to a stage. Raises ConfigError for a missing setting or stage."""
    stage = open_stage(place)
    aws = Aws(_THREADS)
    (bucket,) = stage.required("GOFER_BUCKET")
    group, role, target = stage.required("GOFER_SCHEDULE_GROUP", "GOFER_SCHEDULE_ROLE", "GOFER_SCHEDULE_TARGET")
    timetable = EventBridge(aws, stage.client("scheduler"), group=group, role=role, target=target)
    try:
        yield Publisher(S3BundleStore(aws, stage.client("s3"), bucket), timetable, SystemClock(), root, WorkflowForm)
    finally:
        aws.close()
