"""Reasons in the delivery log: why a delivery starts no run and who can act, without its contents."""

import gzip
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import jwt
import pytest

from gofer.runtime.receive import Ingress
from gofer.sources.delivery_log import KINDS, REFUSALS, DeliveryLog, Outcome, operator_clause
from gofer.sources.receiver import RawRequest
from gofer.sources.slack.receiver import sign
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import BadRequest, RefusalCode, TemporaryError
from gofer.workflows.routes import read_routes
from support.sources.every_delivery import BEARER, EVENTS, JWT, SECRET, AllReceivers, delivery, path_of, without_proof
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio

MENTION = (Path(__file__).parents[2] / "events" / "slack_app_mention.json").read_bytes()
PULL_REQUEST = (Path(__file__).parents[2] / "events" / "github_pull_request_merged.json").read_bytes()
SLACK = "/slack/events"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "gofer"):
        yield caplog


def slack(body: object, at: float = NOON) -> RawRequest:
    raw = json.dumps(body).encode()
    timestamp = str(int(at))
    headers = [("X-Slack-Request-Timestamp", timestamp), ("X-Slack-Signature", sign(SECRET, timestamp, raw))]
    return RawRequest("POST", SLACK, headers, raw)


async def test_refused_delivery_log_names_the_setting_to_check(lines: pytest.LogCaptureFixture) -> None:
    all_receivers = AllReceivers()
    for path, setting in (
        (SLACK, "SLACK_SIGNING_SECRET"),
        ("/jira/webhook", "JIRA_WEBHOOK_SECRET"),
        ("/hooks/hmac", "WEBHOOK_SECRET_HMAC or WEBHOOK_SECRET"),
    ):
        assert await all_receivers.deliver(without_proof(delivery(path, b"{}"))) == 401
        assert lines.messages[-1] == f"1 delivery to {path} refused: {_clause(lines)}"
        assert setting in lines.messages[-1] or "signed time" in lines.messages[-1]
    assert {record.levelname for record in lines.records} == {"WARNING"}


def _clause(lines: pytest.LogCaptureFixture) -> str:
    return lines.messages[-1].partition(": ")[2]


@pytest.mark.parametrize(
    ("seconds", "code"), [(-301, "timestamp_old"), (302, "timestamp_future"), (-300, None), (300, None)]
)
async def test_delivery_log_distinguishes_a_future_time_from_an_old_time(
    lines: pytest.LogCaptureFixture, seconds: int, code: str | None
) -> None:
    reply = await AllReceivers().ingress.receive(slack(json.loads(MENTION), NOON + seconds))
    codes = [record.__dict__["fields"]["code"] for record in lines.records]
    assert codes == ([code] if code else [])
    assert (reply.status == 401) == bool(code)
    # The answer to the sender is the same, whichever clock is wrong.
    assert b"old" not in reply.body
    assert b"future" not in reply.body


CLAIMS = {"iss": JWT["issuer"], "aud": JWT["audience"], "exp": NOON + 60}


def token(key: str = BEARER.reveal(), algorithm: str = "HS256", **changes: object) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode(claims, key, algorithm)


@pytest.mark.parametrize(
    ("presented", "code"),
    [
        ("x" * 16_001, "jwt_too_long"),
        ("no.token", "jwt_malformed"),
        (token("k" * 48, "HS384"), "jwt_unknown_key"),
        (token("another secret of thirty-two bytes"), "jwt_signature"),
        (token(iss="https://other.example"), "jwt_issuer"),
        (token(iss=None), "jwt_issuer"),
        (token(aud="others"), "jwt_audience"),
        (token(aud=None), "jwt_audience"),
        (token(exp=None), "jwt_without_expiry"),
        (token(exp=NOON - 61), "jwt_expired"),
        (token(nbf=NOON + 61), "jwt_not_yet"),
        (token(nbf=True), "jwt_malformed_time"),
        ("", "token_missing"),
    ],
)
async def test_delivery_log_has_a_sentence_for_each_failure_of_a_jwt(
    lines: pytest.LogCaptureFixture, presented: str, code: RefusalCode
) -> None:
    request = RawRequest("POST", "/hooks/jwt", [("Authorization", f"Bearer {presented}")], b"")
    assert await AllReceivers().deliver(request) == 401
    assert lines.records[-1].__dict__["fields"]["code"] == code
    assert _clause(lines) == operator_clause(code, "WEBHOOK_SECRET_JWT or WEBHOOK_SECRET")


@pytest.mark.parametrize(
    "presented",
    ["no.token", token("another secret of thirty-two bytes"), token(iss="o"), token(aud="o"), token(exp=None)],
)
async def test_refused_jwt_is_answered_with_the_same_text_for_every_reason(presented: str) -> None:
    request = RawRequest("POST", "/hooks/jwt", [("Authorization", f"Bearer {presented}")], b"")
    reply = await AllReceivers().ingress.receive(request)
    assert reply.body == b"The token is not one that its issuer signed for this hook."


@pytest.mark.parametrize(
    ("body", "code", "sentence"),
    [
        (b"", "body_empty", "The body is empty."),
        (b" \n", "body_empty", "The body is empty."),
        (gzip.compress(b"{}"), "body_compressed", "The body is compressed with gzip; send it as it is."),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "body_too_deep", "The body is nested deeper than 100 levels."),
        (b"[" * 100_000, "body_too_deep", "The body is nested deeper than 100 levels."),
        (b"\xff", "body_not_utf8", "The body is not text in UTF-8."),
        (b"{", "body_not_json", "The body is not JSON."),
        (b"[]", "body_not_object", "The body is not a JSON object."),
        (
            b"[" + b"9" * 10_000 + b"]",
            "body_number",
            "The body holds NaN, an infinity or a number of thousands of digits.",
        ),
    ],
)
async def test_unreadable_body_is_answered_and_logged_with_a_sentence_for_each_reason(
    lines: pytest.LogCaptureFixture, body: bytes, code: str, sentence: str
) -> None:
    for path in ("/jira/webhook", "/github/webhook"):
        reply = await AllReceivers().ingress.receive(delivery(path, body))
        assert (reply.status, reply.body.decode()) == (400, sentence)
        assert lines.records[-1].__dict__["fields"]["code"] == code


@pytest.mark.parametrize(
    ("body", "code", "action"),
    [
        ({"type": "app_rate_limited", "minute_rate_limited": 1}, "rate_limited", "30,000"),
        (
            {"type": "event_callback", "event": {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U1"]}}},
            "tokens_revoked",
            "SLACK_BOT_TOKEN",
        ),
        ({"type": "event_callback", "event": {"type": "app_uninstalled"}}, "uninstalled", "install it again"),
    ],
)
async def test_slack_event_about_the_app_is_logged_as_an_error_with_advice(
    lines: pytest.LogCaptureFixture, body: object, code: str, action: str
) -> None:
    assert await AllReceivers().deliver(slack(body)) == 200
    (record,) = lines.records
    assert (record.levelname, record.__dict__["fields"]["code"]) == ("ERROR", code)
    assert action in record.getMessage()


async def test_slack_revoked_user_tokens_are_logged_without_an_error(lines: pytest.LogCaptureFixture) -> None:
    event = {"type": "tokens_revoked", "tokens": {"oauth": ["U1"], "bot": []}}
    assert await AllReceivers().deliver(slack({"type": "event_callback", "event": event})) == 200
    assert [record.levelname for record in lines.records] == ["INFO"]


def listening(kind: str, where: object) -> Ingress:
    return replace(AllReceivers().ingress, routes=read_routes({kind: [("secret-project", where)]}))


async def test_delivery_log_names_workflow_and_condition_for_a_public_place(
    lines: pytest.LogCaptureFixture,
) -> None:
    ingress = listening("github.pull_request", {"action": ["opened"], "repository": ["acme/shop"]})
    request = delivery("/github/webhook", PULL_REQUEST, ("X-GitHub-Event", "pull_request"))
    reply = await ingress.receive(request)
    assert reply.body.startswith(b"Ignored: secret-project requires `action: opened`")
    assert lines.messages[-1].endswith(reply.body.decode().removeprefix("Ignored: ").removesuffix("."))
    # Found values are shown only to readers of the payload.
    assert "merged" not in lines.messages[-1]


@pytest.mark.parametrize("channel_type", ["group", ""])
async def test_delivery_log_names_no_workflow_for_a_possibly_private_place(
    lines: pytest.LogCaptureFixture, channel_type: str
) -> None:
    body = json.loads(MENTION)
    body["event"] |= {"channel_type": channel_type, "type": "message", "text": "<@U0GOFER0> the merger"}
    ingress = listening("slack.mention", {"channel_id": ["C0GENERA0"], "bot": ["true"]})
    assert (await ingress.receive(slack(body))).status == 200
    assert "gofer explain" in lines.messages[-1]
    for hidden in ("secret-project", "C0GENERA0", "merger"):
        assert hidden not in lines.text


@pytest.mark.parametrize("path", ["/wp-admin", "/slack/events/", "/hooks/\x1b[31mred"])
async def test_delivery_log_does_not_repeat_an_unknown_path(lines: pytest.LogCaptureFixture, path: str) -> None:
    all_receivers = AllReceivers()
    for number in range(50):
        assert await all_receivers.deliver(RawRequest("POST", f"{path}{number}", [], b"")) == 404
        # A GET is no delivery.
        assert await all_receivers.deliver(RawRequest("GET", f"{path}{number}", [], b"")) == 404
    assert [record.getMessage() for record in lines.records] == [
        "1 delivery to an unknown path refused: no receiver listens at the path; check the URL in the sender's settings"
    ]


async def test_delivery_log_names_the_missing_setting_of_a_source(lines: pytest.LogCaptureFixture) -> None:
    all_receivers = AllReceivers()
    receivers = {path: receiver for path, receiver in all_receivers.ingress.receivers.items() if path != SLACK}
    reply = await replace(all_receivers.ingress, receivers=receivers).receive(slack({}))
    assert (reply.status, reply.body) == (404, b"There is nothing at this path.")
    assert lines.messages == ["1 delivery to /slack/events refused: the source is not set up; set SLACK_SIGNING_SECRET"]


async def test_delivery_that_cannot_be_stored_is_logged_as_an_error(lines: pytest.LogCaptureFixture) -> None:
    class Full(MemoryStore):
        async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
            raise TemporaryError("the disk is full")

    front = AllReceivers().ingress
    ingress = replace(front, stores=replace(front.stores, journals=Full()))
    assert (await ingress.receive(slack(json.loads(MENTION)))).status == 503
    (record,) = lines.records
    assert record.levelname == "ERROR"
    assert "it could not be stored (the disk is full)" in record.getMessage()


async def test_ignored_act_of_gofer_is_not_logged(lines: pytest.LogCaptureFixture) -> None:
    body = json.loads(MENTION)
    body["event"]["user"] = "U0GOFER0"
    reply = await AllReceivers().ingress.receive(slack(body))
    assert reply.body == b"Ignored: Gofer wrote it."
    assert lines.records == []


async def test_accepted_delivery_is_not_logged(lines: pytest.LogCaptureFixture) -> None:
    assert await AllReceivers().deliver(slack(json.loads(MENTION))) == 200
    assert lines.records == []


def test_refusal_codes_each_have_a_clause() -> None:
    assert set(REFUSALS) == set(get_args(RefusalCode))
    assert len(set(REFUSALS.values())) == len(REFUSALS)
    assert BadRequest(400, "").code == "other"


async def test_refused_deliveries_of_all_sources_have_a_code(lines: pytest.LogCaptureFixture) -> None:
    all_receivers = AllReceivers()
    for event in EVENTS:
        await all_receivers.deliver(RawRequest("POST", path_of(event), [], event.read_bytes()))
    codes = {record.__dict__["fields"]["code"] for record in lines.records}
    assert codes == {"signature_missing", "timestamp_missing"}


def test_delivery_log_counts_each_reason_separately(lines: pytest.LogCaptureFixture) -> None:
    log = DeliveryLog()
    for reason in ("it lacks a time", "it lacks a team", "it lacks a time", "it lacks a time"):
        log.note(SLACK, Outcome("ignored", "incomplete", reason), 0.0)
    log.flush()
    assert lines.messages == [
        "1 delivery to /slack/events ignored: it lacks a time",
        "1 delivery to /slack/events ignored: it lacks a team",
        "2 deliveries to /slack/events ignored: it lacks a time",
    ]


def test_delivery_log_counts_reasons_beyond_the_limit_together(lines: pytest.LogCaptureFixture) -> None:
    log = DeliveryLog()
    for number in range(KINDS + 50):
        log.note(SLACK, Outcome("ignored", "conditions", f"w{number} wants another channel"), 0.0)
    log.flush()
    assert len(lines.messages) == KINDS + 2
    assert lines.messages[-1].startswith("49 deliveries to /slack/events ignored: other reasons")
