"""Receivers on Lambda: accepted and refused deliveries, in this process, on moto."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gofer.app.aws.clients import open_cloud
from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.receiver import OWN, RESERVE, Front, receiver, source_receiver
from gofer.app.functions.webhook import webhook_receiver
from gofer.journal.entries import RunAccepted
from gofer.journal.log import read_journal
from gofer.runtime.receive import Ingress
from gofer.sources.receivers import PATHS
from gofer.values.events import Event
from gofer.workflows.published import Compiled, encode_compiled
from gofer_simulators.github.delivery import signature as github_signature
from gofer_simulators.jira.delivery import signature as jira_signature
from gofer_simulators.notion.delivery import signature as notion_signature
from support.app.company import ROOT
from support.aws import moto_server
from support.aws.function_in_process import KEY, invoke, put
from support.aws.lambda_stage import as_event
from support.http.threaded_server import Requests, serving
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import SetClock

SECRET = "NOTION_WEBHOOK_SECRET"
TOKEN, OTHER = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce", "secret_of_another_app_1234"


@pytest.mark.parametrize("source", ["jira", "notion", "github"])
def test_receiver_without_the_account_of_gofer_answers_503(
    ground: Ground, caplog: pytest.LogCaptureFixture, source: str
) -> None:
    secret, own = next((heard, own) for heard, own in OWN.items() if heard.lower().startswith(source))
    logging.getLogger().addHandler(caplog.handler)
    put(ground.environment["GOFER_PARAMETERS"], **{secret: "secret"})
    function = receiver(ground, secret, own)
    assert invoke(function, as_event("POST", PATHS[source], {}, b"{}"))["statusCode"] == 503
    assert f"{own} must be set with {secret}" in caplog.text
    put(ground.environment["GOFER_PARAMETERS"], **{own: "0" * 32})
    known = receiver(ground, secret, own)
    assert invoke(known, as_event("POST", PATHS[source], {}, b"{}"))["statusCode"] == 401


def test_thawed_function_logs_the_refusals_counted_before(ground: Ground, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger().addHandler(caplog.handler)
    clock = SetClock()
    (ground.package / "compiled.json").write_bytes(encode_compiled(Compiled("", {}, {}, [])))
    known = {**ground.environment, "INSTALLATION_KEY": KEY, "GITHUB_WEBHOOK_SECRET": "secret", "GITHUB_LOGIN": "gofer"}
    function = receiver(replace(ground, clock=clock, environment=known), "GITHUB_WEBHOOK_SECRET", "GITHUB_LOGIN")
    forged = as_event("POST", "/github/webhook", {"x-hub-signature-256": "sha256=" + "0" * 64}, b"{}")
    for seconds in (0, 1, 1, 3_600):
        clock.advance(seconds)
        assert invoke(function, forged)["statusCode"] == 401
    said = "to /github/webhook refused%s: the signature does not match; check GITHUB_WEBHOOK_SECRET"
    lines = [message for message in caplog.messages if "refused" in message]
    assert lines == [f"1 delivery {said % ''}", f"2 deliveries {said % ' in 2 s'}", f"1 delivery {said % ''}"]


def test_delivery_that_aws_holds_up_is_answered_before_the_function_is_killed() -> None:
    class Hanging:
        async def now(self) -> Ingress:
            await asyncio.sleep(60)
            raise AssertionError

    async def play() -> Mapping[str, object]:
        return await Front(Hanging()).answer(as_event("POST", "/slack/events", {}, b"{}"), 10.0)

    loop = VirtualLoop()
    assert in_virtual_time(loop, play())["statusCode"] == 503
    assert loop.time() == 10.0 - RESERVE


class Denied(Requests):
    """An S3 that denies every read."""

    def take(self) -> None:
        self.reply(403, b"<Error><Code>AccessDenied</Code></Error>")


def test_receiver_without_access_to_published_workflows_answers_503(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    """The workflows in its package may be months old, and with them it would ignore events for good."""
    logging.getLogger().addHandler(caplog.handler)
    with serving(Denied) as url:
        elsewhere = replace(ground.account, endpoint=url)
        known = {**ground.environment, "INSTALLATION_KEY": KEY, "SLACK_SIGNING_SECRET": "secret"}
        function = receiver(replace(ground, account=elsewhere, environment=known), "SLACK_SIGNING_SECRET")
        assert invoke(function, as_event("POST", PATHS["slack"], {}, b"{}"))["statusCode"] == 503
    assert "No workflows are loaded: AWS does not allow get_object here" in caplog.text


def test_comment_by_gofer_itself_starts_no_run(ground: Ground) -> None:
    routes = {"github.comment": [["answer-here", {}]]}
    (ground.package / "compiled.json").write_bytes(encode_compiled(Compiled("", routes, {}, [])))
    put(ground.environment["GOFER_PARAMETERS"], GITHUB_WEBHOOK_SECRET="secret", GITHUB_LOGIN="gofer-bot")
    function = receiver(ground, "GITHUB_WEBHOOK_SECRET", "GITHUB_LOGIN")

    def comment(login: str) -> Any:
        told = (ROOT / "tests" / "events" / "github_issue_comment.json").read_text().replace('"ada"', f'"{login}"')
        headers = {"content-type": "application/json", "x-github-event": "issue_comment", "x-github-delivery": login}
        signed = {**headers, "x-hub-signature-256": github_signature("secret", told.encode())}
        return invoke(function, as_event("POST", "/github/webhook", signed, told.encode()))

    assert comment("ada")["body"] == "Accepted."
    assert comment("Gofer-bot")["body"].startswith("Ignored: ")


def bodies(ground: Ground) -> list[bytes]:
    s3, bucket = moto_server.client("s3"), ground.cloud.bucket
    found = s3.list_objects_v2(Bucket=bucket, Prefix="blobs/").get("Contents", [])
    return [s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read() for one in found]


def accepted(ground: Ground) -> Event:
    """Return the event of the only run."""

    async def read() -> Event:
        cloud = open_cloud(ground.cloud, ground.clock)
        (head,) = await cloud.store.heads(10, private=True)
        (first, *_) = await read_journal(head.run, cloud.store, cloud.blobs)
        cloud.close()
        assert isinstance(first.entry, RunAccepted)
        return first.entry.event

    return asyncio.run(read())


def test_large_webhook_body_is_sealed_and_stored_before_the_claim(ground: Ground) -> None:
    hook = {"name": "orders", "auth": {"kind": "bearer"}, "key": "/id"}
    compiled = Compiled("", {"webhook": [["answer-here", {}]]}, {"orders": hook}, [])
    (ground.package / "compiled.json").write_bytes(encode_compiled(compiled))
    put(ground.environment["GOFER_PARAMETERS"], WEBHOOK_SECRET="s3cret")
    function = webhook_receiver(ground)
    body = json.dumps({"id": "7", "orders": ["shirt"] * 20_000})

    def call(text: str) -> int:
        headers = {"content-type": "application/json", "authorization": "Bearer s3cret"}
        return invoke(function, as_event("POST", "/hooks/orders", headers, text.encode()))["statusCode"]

    assert [call(body), call(body), call(body.replace("shirt", "socks"))] == [200, 200, 409]
    (kept,) = bodies(ground)
    assert len(body) > 100_000
    assert b"shirt" not in kept
    assert accepted(ground).text == body


def test_long_comment_of_three_byte_letters_is_stored_whole(ground: Ground) -> None:
    """Each receiver needs permission to store bodies: a text of 4,000 such characters is larger than a row."""
    routes = {"jira.commented": [["answer-here", {}]]}
    (ground.package / "compiled.json").write_bytes(encode_compiled(Compiled("", routes, {}, [])))
    put(ground.environment["GOFER_PARAMETERS"], JIRA_WEBHOOK_SECRET="secret", JIRA_ACCOUNT_ID="712020:gofer")
    function = receiver(ground, "JIRA_WEBHOOK_SECRET", "JIRA_ACCOUNT_ID")
    told = json.loads((ROOT / "tests" / "events" / "jira_comment_created.json").read_text())
    told["comment"]["body"] = "漢" * 4_000
    raw = json.dumps(told).encode()
    headers = {"content-type": "application/json", "x-hub-signature": jira_signature("secret", raw)}
    assert invoke(function, as_event("POST", "/jira/webhook", headers, raw))["body"] == "Accepted."
    assert len(bodies(ground)) == 1
    assert accepted(ground).text == "漢" * 4_000


def until(seconds: float) -> str:
    closes = datetime.fromtimestamp(datetime.now(UTC).timestamp() + seconds, UTC)
    return f"register until {closes:%Y-%m-%dT%H:%M:%SZ}"


def notion(ground: Ground, secret: str) -> Handler:
    put(ground.environment["GOFER_PARAMETERS"], NOTION_BOT_ID="0" * 32, **{SECRET: secret})
    return source_receiver(ground, "notion")


def deliver(function: Handler, body: dict[str, str], token: str) -> Any:
    raw = json.dumps(body).encode()
    headers = {"content-type": "application/json", "x-notion-signature": notion_signature(token, raw)}
    return invoke(function, as_event("POST", "/notion/webhook", headers, raw))


def offer(function: Handler, token: str) -> Any:
    return deliver(function, {"verification_token": token}, token)


def kept(ground: Ground) -> str:
    name = ground.environment["GOFER_PARAMETERS"] + SECRET
    return moto_server.client("ssm").get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]


def test_verification_token_is_registered_once_while_the_window_is_open(
    ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    function = notion(ground, until(600))
    # A second process of the same function, which has read the parameter too.
    second = source_receiver(ground, "notion")
    assert deliver(second, {"type": "page.created"}, OTHER)["statusCode"] == 401
    assert offer(function, TOKEN)["statusCode"] == 200
    assert kept(ground) == TOKEN
    assert offer(second, OTHER)["statusCode"] == 403
    # Notion sends the token again on request, and each process that receives it knows it from then on.
    assert [offer(one, TOKEN)["statusCode"] for one in (function, second)] == [200, 200]
    assert [deliver(one, {"type": "x"}, TOKEN)["statusCode"] for one in (function, second)] == [200, 200]
    assert kept(ground) == TOKEN
    assert TOKEN not in "".join(capsys.readouterr())


def test_rotated_verification_token_leaves_the_older_one_valid(ground: Ground) -> None:
    function = notion(ground, f"{OTHER},{until(600)}")
    assert offer(function, TOKEN)["statusCode"] == 200
    assert kept(ground) == f"{TOKEN},{OTHER}"
    assert [deliver(function, {"type": "x"}, one)["statusCode"] for one in (TOKEN, OTHER)] == [200, 200]


@pytest.mark.parametrize("secret", [TOKEN, until(-1), until(86_400), "register until tomorrow", "register"])
def test_verification_token_is_refused_without_an_open_window(ground: Ground, secret: str) -> None:
    function = notion(ground, secret)
    offer(function, OTHER)
    assert kept(ground) == secret
    assert deliver(function, {"type": "x"}, OTHER)["statusCode"] in (401, 404)
    assert (deliver(function, {"type": "x"}, secret)["statusCode"] == 200) == (secret == TOKEN)
