"""Lambda functions in this process, on moto: construction and responses."""

import ast
import asyncio
import gc
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gofer.app.aws.clients import open_cloud
from gofer.app.functions.dashboard import dashboard_function
from gofer.app.functions.foundation import Ground, stand, start_lines
from gofer.app.functions.invocation import Failed
from gofer.app.functions.receiver import receiver
from gofer.app.functions.schedule import PAUSES, schedule_function
from gofer.app.functions.webhook import webhook_receiver
from gofer.app.functions.worker import worker_function
from gofer.journal.coordination import Head
from gofer.journal.entries import RunFinished
from gofer.journal.log import open_journal
from gofer.values.errors import TemporaryError
from gofer.values.schedules.planned import planned
from gofer.workflows.published import (
    POINTER,
    Compiled,
    Current,
    bundle_name,
    encode_compiled,
    encode_pointer,
    routes_key,
)
from gofer_simulators.slack.delivery import signature
from support.app.company import ROOT
from support.aws import moto_server
from support.aws.function_in_process import get, invoke
from support.aws.lambda_stage import as_event
from support.stand_ins import claimed


def test_receiver_function_verifies_the_signature_and_answers_with_a_status(ground: Ground) -> None:
    slack = receiver(ground, "SLACK_SIGNING_SECRET")
    body = b'{"type":"url_verification","challenge":"c"}'
    now = str(int(time.time()))
    headers = {
        "content-type": "application/json",
        "X-Slack-Request-Timestamp": now,
        "X-Slack-Signature": signature("secret", now, body),
    }
    assert invoke(slack, as_event("POST", "/slack/events", headers, body))["body"] == "c"
    forged = invoke(slack, as_event("POST", "/slack/events", {**headers, "X-Slack-Signature": "v0=0"}, body))
    assert forged["statusCode"] == 401
    assert invoke(slack, get("/healthz"))["body"] == "ok\n"
    assert invoke(slack, {})["statusCode"] == 400


def test_receiver_function_without_valid_settings_answers_503(ground: Ground) -> None:
    ground = replace(ground, environment={**ground.environment, "INSTALLATION_KEY": "none"})
    slack = receiver(ground, "SLACK_SIGNING_SECRET")
    assert invoke(slack, as_event("POST", "/slack/events", {}, b"{}"))["statusCode"] == 503


def test_webhook_function_answers_404_for_an_unknown_hook(ground: Ground) -> None:
    assert invoke(webhook_receiver(ground), as_event("POST", "/hooks/none", {}, b"{}"))["statusCode"] == 404


def test_schedule_function_sweeps_purges_and_ignores_unpublished_schedules(ground: Ground) -> None:
    schedule = schedule_function(ground)
    assert invoke(schedule, {"sweep": True}) == {"enqueued": 0, "deleted": 0, "forgotten": 0}
    assert invoke(schedule, {"purge": True}) == {"deleted": 0, "forgotten": 0, "unseen": 0}
    told = {"workflow": "w", "schedule": "w cron UTC", "at": "2026-11-21T12:00:00Z"}
    assert invoke(schedule, told) == {"ignored": "no workflow has this schedule any more"}
    for wrong in ({}, {**told, "at": "soon"}):
        with pytest.raises(Failed, match="BadRequest"):
            invoke(schedule, wrong)


def publish(ground: Ground, schedules: Sequence[tuple[str, object]]) -> None:
    name = bundle_name(time.time(), "0" * 64)
    s3, bucket, compiled = moto_server.client("s3"), ground.cloud.bucket, Compiled(name, {}, {}, schedules)
    s3.put_object(Bucket=bucket, Key=routes_key(name), Body=encode_compiled(compiled))
    s3.put_object(Bucket=bucket, Key=POINTER, Body=encode_pointer(Current(name, "2026-11-21T11:59:59Z")))


def test_schedule_that_fires_during_publishing_starts_a_run(ground: Ground) -> None:
    """Scheduler has the entry before the pointer is moved, so its first time may come in between."""
    schedule, now = schedule_function(ground, pauses=(0.05,) * 200), datetime.now(UTC)
    once = {"kind": "at", "text": f"{now:%Y-%m-%dT%H:%M}", "zone": "UTC"}
    told = {"workflow": "w", "schedule": planned("w", once).id, "at": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
    publishing = threading.Timer(0.5, publish, (ground, [("w", once)]))
    publishing.start()
    assert re.fullmatch("[0-9a-f]{24}", invoke(schedule, told).get("run", ""))
    publishing.join()


def test_unpublished_schedule_is_awaited_no_longer_than_publishing_takes(ground: Ground) -> None:
    now, waits = datetime.now(UTC), 3_600.0
    told = {"workflow": "w", "schedule": "w cron UTC", "at": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
    assert "ignored" in invoke(schedule_function(ground, pauses=(0.01, 0.01)), told)
    late = {**told, "at": f"{now - timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}"}
    assert "ignored" in invoke(schedule_function(ground, pauses=(waits,)), late)
    assert 20 <= sum(PAUSES) <= 60


def test_schedule_that_fires_right_after_publishing_starts_a_run(ground: Ground) -> None:
    schedule = schedule_function(ground)
    every = {"kind": "every", "text": "1 minutes", "zone": "UTC"}
    told = {"workflow": "w", "schedule": planned("w", every).id, "at": "2026-11-21T12:00:00Z"}
    assert "ignored" in invoke(schedule, told)
    publish(ground, [("w", every)])
    assert re.fullmatch("[0-9a-f]{24}", invoke(schedule, told)["run"])


def test_worker_function_acknowledges_a_queue_message(ground: Ground) -> None:
    record = {"messageId": "m", "receiptHandle": "r", "body": f'{{"run":"{"0" * 24}"}}', "attributes": {}}
    assert invoke(worker_function(ground), {"Records": [record]}) == {"batchItemFailures": []}


def test_run_finishes_after_a_worker_that_could_not_start(ground: Ground) -> None:
    """Its queue message is invisible for 90 minutes, and the sweep enqueues another one."""
    cloud, run, still = open_cloud(ground.cloud, ground.clock), "0" * 24, int((ground.clock.now() - 185) * 1000)

    (ground.package / "agents").mkdir()
    (ground.package / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")

    async def accept() -> None:
        journal, _ = await open_journal(run, cloud.store, cloud.blobs, await claimed(cloud.store, run))
        # Only the head is missing: the worker has nothing to do but to write it.
        journal.add(RunFinished("done"))
        await journal.commit()
        await cloud.store.create_head(Head(run, "answer-here", "slack:T:C:1", still, private=False, frames=1))
        await cloud.queue.enqueue(run)

    def batch() -> dict[str, Any]:
        asked = {"VisibilityTimeout": 5_400, "MessageSystemAttributeNames": ["All"], "MaxNumberOfMessages": 10}
        found = moto_server.client("sqs").receive_message(QueueUrl=ground.cloud.queue_url, **asked)
        names = {"MessageId": "messageId", "ReceiptHandle": "receiptHandle", "Body": "body", "Attributes": "attributes"}
        return {"Records": [{names[k]: v for k, v in one.items() if k in names} for one in found.get("Messages", [])]}

    asyncio.run(accept())
    unset = replace(ground, environment={**ground.environment, "OPENAI_BASE_URL": ""})
    with pytest.raises(Failed, match="ConfigError"):
        invoke(worker_function(unset), batch())
    assert batch() == {"Records": []}
    assert invoke(schedule_function(ground), {"sweep": True}) == {"enqueued": 1, "deleted": 0, "forgotten": 0}
    assert invoke(worker_function(ground), batch()) == {"batchItemFailures": []}
    head = asyncio.run(cloud.store.head(run))
    cloud.close()
    assert head is not None
    assert head.status == "done"


def test_dashboard_function_requires_a_sign_in(ground: Ground) -> None:
    with pytest.raises(Failed, match="ConfigError"):
        invoke(dashboard_function(ground), get("/runs"))
    given = dict.fromkeys(("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN"), "set")
    # No server listens at this port, as when Slack is away.
    given["SLACK_API_URL"] = "http://127.0.0.1:9/api/"
    dashboard = dashboard_function(replace(ground, environment={**ground.environment, **given}))
    page = invoke(dashboard, get("/runs"))
    assert (page["statusCode"], page["headers"]["location"]) == (303, "/sign-in?to=%2Fruns")
    asked = invoke(dashboard, get("/sign-in"))
    assert (asked["statusCode"], "Gofer could not learn from Slack what you may see" in asked["body"]) == (503, True)
    assert invoke(dashboard, get("/healthz"))["statusCode"] == 200
    assert invoke(dashboard, {"rawPath": 1})["statusCode"] == 400


def test_function_error_shows_the_type_and_no_contents(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A logger keeps its first stream, so this test needs a new logger.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "gofer-failing")
    ground = replace(ground, logger=start_lines("summary"))

    def failing(error: Exception) -> Callable[[], Any]:
        async def answer(event: object, seconds: float) -> object:
            assert seconds == 900
            raise error

        made = ground.handler(answer)
        return lambda: invoke(made, {"body": "contents"})

    with pytest.raises(Failed, match=r"^KeyError$"):
        failing(KeyError("contents"))()
    with pytest.raises(Failed, match=r"^TemporaryError$"):
        failing(TemporaryError("the table is busy"))()
    told = capsys.readouterr().out
    assert "contents" not in told
    assert "the table is busy" in told


HANDLERS = sorted(path for path in (ROOT / "handlers").glob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.stem)
def test_lambda_handler_is_one_line_over_app(path: Path) -> None:
    tree = ast.parse(path.read_text())
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert all(str(name).startswith("gofer.app") for name in imported)
    assert [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)] == ["handler"]
    assert len(path.read_text().splitlines()) <= 30


@pytest.mark.usefixtures("ground")
def test_function_enables_garbage_collection_at_startup() -> None:
    # The package of the handlers does the same during imports.
    gc.disable()
    try:
        stand().close()
        assert gc.isenabled()
    finally:
        gc.enable()
