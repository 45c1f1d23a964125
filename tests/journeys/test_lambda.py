"""Gofer on Lambda's own runtime client: a message in Slack, functions in processes of their own, an answer in Slack."""

import asyncio
import hmac
import json
import re
import shutil
import time
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.catalog import price_list
from gofer.app.embedded.server import serve as serve_app
from gofer.journal.entries import LlmResponse, RunHandedOver, RunOwned
from gofer.sources.workflow_files import WorkflowForm, load_catalog
from gofer.values.outside import SystemClock
from gofer.values.schedules.planned import planned
from gofer.workflows.model_roles import FILE as PRICE_LIST
from gofer.workflows.publication import read_files
from gofer.workflows.publish.publisher import Publisher
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT
from support.aws import moto_server
from support.aws.lambda_host import HANGS
from support.aws.lambda_stage import Code, Stage, packaged, stage
from support.aws.patient_model import answered, patient_model
from support.workflows.publishing import MemoryTimetable

pytestmark = pytest.mark.anyio

SAID = "the plan to change checkout"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    return packaged(tmp_path_factory.mktemp("code"))


def model(together: int = 1, calls: int = 0) -> Starlette:
    """A model that asks for `calls` tool calls, and first waits until `together` requests have arrived.

    `state.most` is the most requests at the same time, and `state.systems` has the system prompt of each.
    """
    enough = asyncio.Event()

    async def complete(request: Request) -> Response:
        asked = json.loads(await request.body())
        app.state.now += 1
        app.state.systems.append(asked["messages"][0]["content"])
        app.state.most = max(app.state.most, app.state.now)
        if app.state.now == together:
            enough.set()
        await enough.wait()
        app.state.now -= 1
        done = len([message for message in asked["messages"] if message["role"] == "assistant"])
        arguments = {"link": "https://acme.slack.com/archives/C0GENERA0/p1763700000000100"}
        function = {"name": "slack_read_thread", "arguments": json.dumps(arguments)}
        call = {"id": f"call_{done}", "type": "function", "function": function}
        said: dict[str, Any] = {"role": "assistant", "content": "Here you are."}
        if done < calls:
            said = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 32_000, "completion_tokens": 0}
        choice = {"index": 0, "finish_reason": "tool_calls" if done < calls else "stop", "message": said}
        return JSONResponse(
            {"id": "x", "object": "chat.completion", "model": "gpt-5.4-mini", "choices": [choice], "usage": usage}
        )

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.state.now = app.state.most = 0
    app.state.systems = []
    return app


async def sign_in(made: Stage) -> dict[str, str]:
    """Return the session cookie of a member who signed in over HTTP."""
    made.slack.openid.redirect_urls.add(f"{made.url}/sign-in/callback")
    begun = await made.http.get(f"{made.url}/sign-in?to=/runs")
    attempt = begun.headers["set-cookie"].partition(";")[0]
    agreed = await made.http.get(f"{begun.headers['location']}&as=U0CAPTN0")
    ended = await made.http.get(agreed.headers["location"], headers={"cookie": attempt})
    assert ended.status_code == 303, ended.text
    session = next(one for one in ended.headers.get_list("set-cookie") if one.startswith("__Host-gofer="))
    return {"cookie": session.partition(";")[0]}


async def test_mention_on_lambda_is_answered_and_only_members_see_the_trace(code: Code) -> None:
    async with stage(code) as made:
        asked = await made.ask(f"@Gofer hello, here is {SAID}")
        # Slack delivers it again, and a stranger posts a forged delivery.
        assert await made.slack.deliver(made.slack.envelopes(asked)[0], retry_num=1) == 200
        forged = await made.http.post(f"{made.url}/slack/events", json={"type": "event_callback"})
        (head,) = await made.work()
        while await made.poll():
            pass
        (answer,) = made.answers(asked)
        stranger = await made.http.get(f"{made.url}/runs/{head.run}/trace")
        member = await sign_in(made)
        listed = await made.http.get(f"{made.url}/runs", headers=member)
        trace = await made.http.get(f"{made.url}/runs/{head.run}/trace", headers=member)
        healthy = await made.http.get(f"{made.url}/healthz")
        numbers, logs = made.metrics("worker"), made.host.log()
    assert (head.status, head.workflow, forged.status_code, healthy.text) == ("done", "answer-here", 401, "ok\n")
    assert "Hello" in answer.text
    assert f"{made.url}/runs/{head.run}" in str(answer.blocks)
    assert (stranger.status_code, listed.status_code, head.run in listed.text) == (401, 200, True)
    assert [span["kind"] for span in trace.json()["spans"]][:2] == ["run", "tool"]
    assert (numbers["RunsEnded"], len(numbers["RunSeconds"]), len(numbers["CostUsd"])) == ([1.0], 1, 1)
    assert "a run ended" in logs
    for content in (SAID, "Hello", "xoxb-", "simulated-signing-secret"):
        assert content not in logs


@pytest.mark.rehearsal(
    "tests/unit/app/pages/test_sign_in.py::test_run_of_a_private_channel_is_shown_to_current_channel_members_only",
)
async def test_run_pages_open_only_to_members_of_the_channel_at_that_moment(code: Code) -> None:
    async with stage(code, model(together=2)) as made:
        channels = made.slack.workspace.channels
        board = replace(channels["C0GENERA0"], id="C0BOARD00", name="board", kind="group")
        channels["C0BOARD00"] = board
        await made.ask(f"@Gofer {SAID}?", channel="C0BOARD00")
        working = asyncio.create_task(made.poll())
        async with asyncio.timeout(HANGS):
            while not (whispers := made.slack.whispers("U0CAPTN0")):
                await asyncio.sleep(0.05)
        member = await sign_in(made)
        (address,) = re.findall(re.escape(made.url) + r"/runs/(\w+)", str(whispers[0].blocks))
        page = await made.http.get(f"{made.url}/runs/{address}", headers=member)
        left = replace(board, members=tuple(one for one in board.members if one != "U0CAPTN0"))
        channels["C0BOARD00"] = left
        stranger = await made.http.get(f"{made.url}/runs/{address}", headers=member)
        # The model answers once two requests have arrived.
        await made.ask("@Gofer hello")
        public = await made.work(runs=2)
        await working
        (listed,) = [head.run for head in public if not head.private]
        before = await made.http.get(f"{made.url}/runs/{listed}", headers=member)
        channels["C0GENERA0"] = replace(channels["C0GENERA0"], kind="group", members=(made.slack.workspace.bot.user,))
        after = await made.http.get(f"{made.url}/runs/{listed}", headers=member)
        rows = await made.http.get(f"{made.url}/runs", headers=member)
        token = rows.text.partition('name="token" value="')[2].partition('"')[0]
        form = {"data": {"token": token}, "headers": {**member, "origin": made.url}}
        left_pages = await made.http.post(f"{made.url}/sign-out", **form)
        signed_out = await made.http.get(f"{made.url}/runs", headers=member, follow_redirects=False)
        logs = made.host.log()
    assert (page.status_code, stranger.status_code) == (200, 404)
    assert (before.status_code, after.status_code, listed in rows.text) == (200, 404, False)
    assert (left_pages.status_code, signed_out.status_code) == (200, 303)
    assert address not in logs
    assert "C0BOARD00" not in logs


async def test_worker_killed_at_the_lambda_timeout_leaves_one_answer(code: Code) -> None:
    async with stage(code, model()) as made:
        made.deploy("stuck", timeout=900.0)
        asked = await made.ask("@Gofer hello")
        posted = made.slack.hold_next("chat.postMessage")
        working = asyncio.create_task(made.poll("stuck"))
        await asyncio.wait_for(posted.wait(), HANGS)
        made.host.expire("stuck")
        await working
        assert made.batches[-1][1] is not None
        assert made.batches[-1][1].error == {"errorType": "Sandbox.Timedout"}
        assert len(made.answers(asked)) == 1
        made.deploy("hasty", timeout=900.0)
        # The lease of the killed worker lasts for a second. A worker that meets it leaves the run to the sweeper.
        await asyncio.sleep(1.5)
        # The queue message is received again when no worker extends its visibility.
        await made.later(120.0)
        (head,) = await made.work(worker="hasty")
        (answer,) = made.answers(asked)
        entries = await made.entries(head.run)
    assert (head.status, "Here you are." in answer.text) == ("done", True)
    assert len([entry for entry in entries if isinstance(entry, RunOwned)]) > 1


@pytest.mark.rehearsal(
    "tests/unit/app/functions/test_worker_batch.py::test_conversations_of_a_batch_run_in_parallel",
    "tests/unit/app/functions/test_worker_batch.py::test_run_past_the_deadline_is_handed_over_with_a_new_queue_message",
)
async def test_lambda_worker_asks_models_of_three_runs_at_once_and_hands_runs_over(code: Code) -> None:
    slow = model(together=3, calls=1)
    async with stage(code, slow) as made:
        # Less than the time a worker reserves for handing over: each invocation does one step of each run.
        made.deploy("brief", timeout=20.0)
        asked = [await made.ask("@Gofer hello") for _ in range(3)]
        heads = await made.work(runs=3, worker="brief")
        answers = [made.answers(one) for one in asked]
        entries = await made.entries(heads[0].run)
        numbers = made.metrics("brief")
    assert {head.status for head in heads} == {"done"}
    assert [len(found) for found in answers] == [1, 1, 1]
    handed = [entry for entry in entries if isinstance(entry, RunHandedOver)]
    assert len(handed) >= 4
    assert {entry.reason for entry in handed} == {"deadline"}
    assert slow.state.most == 3
    # 32,000 of the 48,000 tokens of the window in force. The model itself takes 400,000.
    assert set(numbers["PeakContextUtilisation"]) == {66.67}


async def begun(made: Stage, slow: Starlette) -> tuple[Message, asyncio.Task[int]]:
    """Begin a worker on a long run; return the mention of the run, and the invocation."""
    long = await made.ask("@Gofer hello")
    working = asyncio.create_task(made.poll())
    await asyncio.wait_for(slow.state.waiting.wait(), HANGS)
    return long, working


async def finished(made: Stage, slow: Starlette, long: Message, working: asyncio.Task[int]) -> set[str]:
    """Let the long run and its worker end, with no message left in the queue; return the statuses of all runs."""
    assert not working.done()
    slow.state.go_on.set()
    await working
    await answered(made, long)
    await made.later(121)
    assert await made.poll() == 0
    return {head.status for head in await made.cloud.store.heads(100)}


@pytest.mark.rehearsal(
    "tests/unit/app/functions/test_worker_batch_receiving.py::test_mention_during_a_long_run_is_answered_by_the_same_worker_without_waiting",
)
async def test_quick_mention_is_answered_by_the_worker_that_has_a_long_run_in_flight(code: Code) -> None:
    slow = patient_model()
    async with stage(code, slow) as made:
        long, working = await begun(made, slow)
        quick = await made.ask("@Gofer something quick")
        await answered(made, quick)
        statuses = await finished(made, slow, long, working)
        batches = len(made.batches)
    assert (statuses, batches) == ({"done"}, 1)


@pytest.mark.rehearsal(
    "tests/unit/app/functions/test_worker_batch_offers.py::test_message_of_a_new_worker_is_answered_by_the_one_at_work",
    "tests/unit/app/functions/test_worker_batch_offers.py::test_each_message_is_always_answered_once",
)
async def test_mention_that_begins_another_worker_is_passed_to_the_one_with_free_slots(code: Code) -> None:
    # A worker takes no offers beside a message that came back to the queue, as may happen on a slow machine.
    stages = 1
    while not await passed_on_a_stage(code):
        stages += 1
        assert stages <= 3


async def passed_on_a_stage(code: Code) -> bool:
    """Return whether a new worker on a new stage passed one of ten mentions to the worker with a long run."""
    slow = patient_model()
    async with stage(code, slow) as made:
        long, working = await begun(made, slow)
        given = False
        # The worker at work also looks at the queue and may be faster, and a slow machine may miss the head start.
        for _ in range(10):
            given = await passed(made)
            if given:
                break
        statuses = await finished(made, slow, long, working)
        refused = made.refused("worker")
    assert (statuses, refused) == ({"done"}, [])
    return given


async def passed(made: Stage) -> bool:
    """Mention Gofer and begin another worker; return whether it passed the message on, once the mention is answered."""
    quick = await made.ask("@Gofer something quick")
    given: list[object] = []
    if await made.poll():
        _, outcome = made.batches[-1]
        assert outcome is not None
        given = outcome.payload["batchItemFailures"]
    await answered(made, quick)
    return given != []


async def publish(made: Stage, repository: Path) -> str:
    """Publish a repository to a stage; return the name of the live bundle."""
    bundles = S3BundleStore(moto_server.aws(), moto_server.client("s3"), made.cloud.bucket)
    files = {**read_files(repository), f"agents/{PRICE_LIST}": price_list(repository / "agents", ROOT)}
    done = await Publisher(bundles, MemoryTimetable(), SystemClock(), ROOT, WorkflowForm).publish(files)
    # A warm function looks for a new bundle within thirty seconds, a cold one at once.
    for function in ("slack", "brief"):
        made.host.retire(function)
    return done.name


@pytest.mark.rehearsal(
    "tests/journeys/test_operating_on_aws.py::test_publish_replaces_workflows_and_schedules_and_rolls_back",
    "tests/unit/runtime/test_worker.py::test_started_run_keeps_the_bundle_after_the_workflow_was_removed",
)
async def test_published_prompt_applies_to_new_runs_and_not_to_runs_under_way(code: Code, tmp_path: Path) -> None:
    for folder in ("agents", "subagents", "skills"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    prompt = tmp_path / "agents" / "answer-here.md"
    patient = model(calls=1)
    async with stage(code, patient) as made:
        # One call of the model in each invocation.
        made.deploy("brief", timeout=20.0)
        first = await publish(made, tmp_path)
        asked = [await made.ask("@Gofer hello")]
        while not patient.state.systems:
            await made.poll("brief")
        prompt.write_text(f"{prompt.read_text()}\nEnd with a rhyme.\n")
        second = await publish(made, tmp_path)
        await made.work(worker="brief")
        asked.append(await made.ask("@Gofer hello"))
        await made.work(runs=2, worker="brief")
        answers = [made.answers(one) for one in asked]
    assert second != first
    assert [len(found) for found in answers] == [1, 1]
    assert ["End with a rhyme." in system for system in patient.state.systems] == [False] * 2 + [True] * 2


@pytest.mark.rehearsal(
    "tests/unit/app/functions/test_worker_tool_variables.py::test_cold_worker_reads_its_settings_and_the_variables_of_tools_together",
)
async def test_lambda_worker_asks_a_model_at_a_configured_endpoint(code: Code, tmp_path: Path) -> None:
    for folder in ("agents", "subagents", "skills"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    defaults = tmp_path / "agents" / "defaults.yaml"
    asked = model(calls=1)
    async with stage(code) as made, serve_app(asked) as url:
        made.set(MODEL_KEY_OURS="sk-ours", MODEL_BASE_URLS=f"{url}/v1")
        described = f"endpoints: {{ours: {{base_url: {url}/v1, key: MODEL_KEY_OURS}}}}\n"
        role = "  default: {name: gpt-5.4-mini, endpoint: ours}"
        text = re.sub(r"(?m)^  default: .*$", role, defaults.read_text())
        defaults.write_text(described + text)
        made.deploy("brief", timeout=600.0)
        await publish(made, tmp_path)
        mention = await made.ask("@Gofer hello")
        (head,) = await made.work(worker="brief")
        answers = made.answers(mention)
        entries = await made.entries(head.run)
    assert (head.status, len(answers)) == ("done", 1)
    assert len(asked.state.systems) == 2
    costs = [entry.cost_usd for entry in entries if isinstance(entry, LlmResponse)]
    assert all(cost for cost in costs)


@pytest.mark.rehearsal("tests/survival/test_schedules.py::test_schedules_on_dynamodb_break_no_promise")
async def test_throttled_receiver_and_worker_lead_to_one_answer_later(code: Code) -> None:
    async with stage(code, model()) as made:
        made.deploy("slack", concurrency=0)
        asked = await made.slack.say("U0CAPTN0", "C0GENERA0", made.slack.typed("@Gofer hello"))
        refused = await made.slack.deliver(made.slack.envelopes(asked)[0])
        made.deploy("slack", concurrency=10)
        assert await made.slack.deliver(made.slack.envelopes(asked)[0], retry_num=1, retry_reason="http_error") == 200
        await made.slack.settled()
        made.deploy("worker", concurrency=0)
        await made.poll()
        assert made.batches[-1][1] is None
        made.deploy("worker", timeout=900.0)
        await made.work()
        while await made.poll():
            pass
        answers = made.answers(asked)
    assert refused == 503
    assert len(answers) == 1


async def test_malformed_lambda_events_fail_visibly_and_hold_up_no_run(code: Code) -> None:
    async with stage(code, model()) as made:
        sqs = moto_server.client("sqs")
        for body in ("not json", '{"run":"../../etc"}'):
            sqs.send_message(QueueUrl=made.cloud.url, MessageBody=body)
        asked = await made.ask("@Gofer hello")
        await made.work()
        for _ in range(6):
            await made.poll()
        dead = sqs.receive_message(QueueUrl=made.cloud.dead, MaxNumberOfMessages=10).get("Messages", [])
        nonsense = [made.host.invoke("slack", event) for event in ({}, [], {"Records": []}, {"rawPath": 7})]
        schedules = [
            made.host.invoke("schedule", event) for event in ({}, {"workflow": "x", "schedule": "y", "at": "z"})
        ]
        worker = made.host.invoke("worker", {"detail": "of another kind"})
        log = made.host.log("schedule", "worker")
        answers = made.answers(asked)
    assert len(answers) == 1
    assert {message["Body"] for message in dead} == {"not json", '{"run":"../../etc"}'}
    assert [outcome.payload["statusCode"] for outcome in nonsense] == [400] * 4
    assert {outcome.error["errorType"] for outcome in (*schedules, worker) if outcome.error} == {"Failed"}
    assert "BadRequest" in log


def standard_webhook(secret: bytes, body: bytes) -> dict[str, str]:
    """Return the headers of Standard Webhooks."""
    at = str(int(time.time()))
    signature = b64encode(hmac.digest(secret, f"msg_1.{at}.".encode() + body, "sha256")).decode()
    kind = {"content-type": "application/json"}
    return {**kind, "webhook-id": "msg_1", "webhook-timestamp": at, "webhook-signature": f"v1,{signature}"}


async def test_webhook_and_schedule_functions_start_runs_and_unsigned_calls_get_401(code: Code) -> None:
    plan = next(planned(name, compiled) for name, compiled in load_catalog(ROOT / "agents").schedules())
    secrets = {"JIRA_WEBHOOK_SECRET": "j", "NOTION_WEBHOOK_SECRET": "n", "GITHUB_WEBHOOK_SECRET": "g"}
    own = {"JIRA_ACCOUNT_ID": "712020:gofer", "NOTION_BOT_ID": "0" * 32, "GITHUB_LOGIN": "gofer"}
    async with stage(code, **secrets, **own) as made:
        body = json.dumps({"id": "hire-1", "name": "Engineer"}).encode()
        called = await made.http.post(
            f"{made.url}/hooks/new-hire", content=body, headers=standard_webhook(b"w" * 32, body)
        )
        unsigned = [await refused(made, path) for path in ("/jira/webhook", "/notion/webhook", "/github/webhook")]
        unsigned.append(await refused(made, "/hooks/new-hire"))
        told = {"workflow": plan.workflow, "schedule": plan.id, "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        fired = [made.host.invoke("schedule", told) for _ in range(2)]
        # A time long past, so that the schedule cannot be one about to be published.
        gone = made.host.invoke("schedule", {**told, "schedule": "of another time", "at": "2026-01-01T00:00:00Z"})
        swept, purged = made.host.invoke("schedule", {"sweep": True}), made.host.invoke("schedule", {"purge": True})
        heads = await made.cloud.store.heads(10, private=True)
    assert (called.status_code, unsigned) == (200, [401] * 4)
    assert swept.payload == {"enqueued": 0, "deleted": 0, "forgotten": 0}
    assert purged.payload == {"deleted": 0, "forgotten": 0, "unseen": 0}
    assert fired[0].payload == fired[1].payload
    assert "no workflow has this schedule any more" in gone.payload["ignored"]
    assert sorted(head.workflow for head in heads) == sorted(["new-hire-checklist", plan.workflow])


async def refused(made: Stage, path: str) -> int:
    return (await made.http.post(f"{made.url}{path}", json={"a": 1})).status_code
