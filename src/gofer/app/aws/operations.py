"""A stage on AWS, opened for commands that look after runs and for publishing."""

import contextlib
from collections.abc import Generator
from pathlib import Path

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.aws.clients import cloud_settings, open_cloud
from gofer.app.aws.schedules import EventBridge
from gofer.app.aws.stage import open_stage
from gofer.app.operations import Operations, Place
from gofer.sources.workflow_files import WorkflowForm
from gofer.stores.aws.calls import Aws
from gofer.values.outside import SystemClock
from gofer.workflows.publish.publisher import Publisher

_THREADS = 8


@contextlib.contextmanager
def open_operations(place: Place) -> Generator[Operations]:
    """Open the state of a stage. Raises ConfigError for what is not set or not there."""
    stage = open_stage(place)
    clock = SystemClock()
    cloud = open_cloud(cloud_settings(stage.variables), clock, threads=_THREADS, session=stage.session)
    try:
        yield Operations(cloud.stores, clock)
    finally:
        cloud.close()


@contextlib.contextmanager
def open_publisher(place: Place, root: Path) -> Generator[Publisher]:
    """Open a publisher from the repository at `root` to a stage. Raises ConfigError for what is not set or there."""
    stage = open_stage(place)
    aws = Aws(_THREADS)
    (bucket,) = stage.required("GOFER_BUCKET")
    group, role, target = stage.required("GOFER_SCHEDULE_GROUP", "GOFER_SCHEDULE_ROLE", "GOFER_SCHEDULE_TARGET")
    timetable = EventBridge(aws, stage.client("scheduler"), group=group, role=role, target=target)
    try:
        yield Publisher(S3BundleStore(aws, stage.client("s3"), bucket), timetable, SystemClock(), root, WorkflowForm)
    finally:
        aws.close()
