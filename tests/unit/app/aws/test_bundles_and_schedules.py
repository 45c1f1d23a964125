"""S3 bundles and EventBridge schedules of published workflows, on moto."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.s3.models import s3_backends

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.aws.schedules import EventBridge
from gofer.sources.workflow_files import WorkflowForm
from gofer.values.errors import ConfigError, TemporaryError
from gofer.workflows.publish.publisher import Overtaken, Publisher
from gofer.workflows.publish.timetable import Entry
from gofer.workflows.published import POINTER
from support.aws.moto_server import aws, client, new_bucket
from support.aws.moto_stage import FUNCTION, SCHEDULER, Stage
from support.stand_ins import SetClock
from support.workflows.publishing import files

pytestmark = pytest.mark.anyio

DAILY = Entry("daily", "cron(0 9 * * ? *)", "Europe/Berlin", '{"workflow": "digest"}', 90)


def timetable(group: str, scheduler: Any = None, target: str = FUNCTION) -> EventBridge:
    return EventBridge(aws(), scheduler or client("scheduler"), group, SCHEDULER, target)


async def test_s3_bundle_is_replaced_only_with_the_tag_of_the_last_read() -> None:
    bundles = S3BundleStore(aws(), client("s3"), new_bucket())
    assert (await bundles.read("bundles/a"), await bundles.keys("bundles/")) == (None, [])
    assert await bundles.swap("bundles/a", b"1", "")
    assert not await bundles.swap("bundles/a", b"2", "")
    assert not await bundles.create("bundles/a", b"2")
    first = await bundles.read("bundles/a")
    assert first is not None
    assert first.body == b"1"
    assert await bundles.swap("bundles/a", b"3", first.tag)
    assert not await bundles.swap("bundles/a", b"4", first.tag)
    assert await bundles.keys("bundles/") == ["bundles/a"]
    client("s3").delete_object(Bucket=bundles._bucket, Key="bundles/a")
    assert not await bundles.swap("bundles/a", b"5", first.tag)


async def test_s3_bundle_keys_are_listed_past_the_first_page() -> None:
    bundles = S3BundleStore(aws(), client("s3"), new_bucket())
    # Written into moto's own storage: 1,001 requests would take longer than all other tests of this file.
    kept = s3_backends["123456789012"]["aws"]
    for number in range(1_001):
        kept.put_object(bundles._bucket, f"bundles/{number:04}", b"")
    assert len(await bundles.keys("bundles/")) == 1_001


async def test_concurrent_publishers_leave_exactly_one_live_version() -> None:
    stage = Stage(SetClock())
    publishers = [
        Publisher(
            stage.bundles, timetable(stage.name), SetClock(1_795_262_400.0 + number), Path("nowhere"), WorkflowForm
        )
        for number in range(4)
    ]
    wanted = [files(a=f"Do it {number} times.") for number in range(4)]
    done = await asyncio.gather(
        *(publisher.publish(texts) for publisher, texts in zip(publishers, wanted, strict=True)),
        return_exceptions=True,
    )
    names = [one.name for one in done if not isinstance(one, BaseException)]
    found = await stage.bundles.read(POINTER)
    assert found is not None
    # A publisher that began after another had finished follows it; every overtaken publisher got an error.
    assert json.loads(found.body)["name"] in names
    assert all(isinstance(one, Overtaken) for one in done if isinstance(one, BaseException))


async def test_schedule_entry_is_read_as_written() -> None:
    stage = Stage(SetClock())
    mine = timetable(stage.name)
    await mine.put(DAILY)
    assert (await mine.names(), await mine.entry("daily")) == (["daily"], DAILY)
    await mine.put(DAILY)
    # An entry with another target is not the one that was written.
    assert await timetable(stage.name, target="arn:aws:lambda:x:y:other").entry("daily") is None
    await mine.delete("daily")
    await mine.delete("daily")
    assert (await mine.names(), await mine.entry("daily")) == ([], None)


class Refusing:
    """A client that refuses everything."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get_paginator(self, name: str) -> "Refusing":
        return self

    def paginate(self, **place: object) -> object:
        return self.create_schedule()

    def create_schedule(self, **form: object) -> object:
        raise ClientError({"Error": {"Code": self.code, "Message": "Invalid Schedule Expression"}}, "x")


@pytest.mark.parametrize(
    ("code", "error", "told"),
    [
        ("ResourceNotFoundException", ConfigError, "The schedule group 'g' does not exist; deploy the stage first."),
        ("ValidationException", ConfigError, r"rejects cron\(0 9 \* \* \? \*\) of daily: Invalid Schedule Exp"),
        ("AccessDeniedException", ConfigError, "AWS does not allow"),
        ("ThrottlingException", TemporaryError, "could not carry out create_schedule now"),
    ],
)
async def test_eventbridge_refusal_becomes_a_configuration_or_temporary_error(
    code: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        await timetable("g", Refusing(code)).put(DAILY)


async def test_missing_schedule_group_is_reported() -> None:
    with pytest.raises(ConfigError, match="deploy the stage first"):
        await timetable("g", Refusing("ResourceNotFoundException")).names()
