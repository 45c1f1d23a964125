"""Tests of a webhook's address that senders make first: safe ones are answered, all others are deliveries."""

import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import RawRequest, Reply
from gofer.sources.webhook.handshakes import unproven_handshake
from gofer.sources.webhook.hook import Bearer, Hmac
from gofer.values.secret import Secret
from support.sources.webhook_calls import SECRET, Headers, Reception, bearing, hook
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio

ZOOM = Hmac("x-zm-signature", "v0=", template="v0:{timestamp}:{body}", timestamp_header="x-zm-request-timestamp")


def asked(method: str, query: str = "", headers: Headers = (), body: bytes = b"") -> RawRequest:
    return RawRequest(method, "/hooks/new-hire", headers, body, query)


async def reply(request: RawRequest, auth: object = None) -> Reply:
    reception = Reception([hook(auth or Bearer(), SECRET)])
    answered = await reception.ingress.receive(request)
    assert await reception.runs() == 0
    return answered


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (asked("GET", headers=[("X-Okta-Verification-Challenge", "abc1")]), '{"verification": "abc1"}'),
        (asked("GET", "challenge=abc1"), "abc1"),
        (asked("GET", f"hub.mode=subscribe&hub.verify_token={SECRET}&hub.challenge=1158201444"), "1158201444"),
        (
            asked("POST", "validationToken=Validation%3a+Testing+Request-Id%3a+52-2"),
            "Validation: Testing Request-Id: 52-2",
        ),
        (asked("POST", body=b' {"challenge": "3eZb-Rsc_"}\n'), '{"challenge": "3eZb-Rsc_"}'),
        (asked("HEAD"), ""),
        (asked("POST", headers=[("X-Hook-Secret", "b537207f")], body=b"{}"), ""),
    ],
)
async def test_documented_test_of_an_address_is_answered_without_a_proof(request_: RawRequest, body: str) -> None:
    answered = await reply(request_)
    assert (answered.status, answered.body.decode()) == (200, body)
    assert ("X-Content-Type-Options", "nosniff") in answered.headers
    assert answered.media_type in ("text/plain; charset=utf-8", "application/json")


async def test_offered_secret_of_asana_is_sent_back_in_its_header() -> None:
    answered = await reply(asked("POST", headers=[("X-Hook-Secret", "b537207f")], body=b"{}"))
    assert ("X-Hook-Secret", "b537207f") in answered.headers


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (asked("GET"), 405),
        (asked("GET", "challenge=<script>"), 405),
        (asked("GET", f"challenge={'a' * 501}"), 405),
        (asked("GET", "challenge=a&challenge=b"), 405),
        (asked("GET", "challenge=a&page=2"), 405),
        (asked("GET", "&".join(f"a{number}=1" for number in range(30))), 405),
        (asked("GET", "hub.mode=subscribe&hub.verify_token=guess&hub.challenge=1"), 405),
        (asked("GET", "hub.mode=subscribe&hub.challenge=1"), 405),
        (asked("GET", "crc_token=abc1"), 405),
        (asked("GET", headers=[("X-Okta-Verification-Challenge", 'a"b')]), 405),
        (asked("POST", body=b'{"challenge": "a\\u003cb"}'), 401),
        (asked("POST", body=b'{"challenge": "a", "type": "url_verification"}'), 401),
        (asked("POST", body=b'{"event": "endpoint.url_validation", "payload": {"plainToken": "a"}}'), 401),
        (asked("POST", headers=[("X-Hook-Secret", "a\r\nb")]), 401),
        (asked("POST", headers=[("X-Hook-Secret", "a"), ("X-Hook-Signature", "b")]), 401),
        (asked("POST", "validationToken=a", body=b'{"value": []}'), 401),
        (asked("PUT", "challenge=a"), 405),
    ],
)
async def test_request_without_the_form_of_a_documented_test_is_refused(request_: RawRequest, status: int) -> None:
    assert (await reply(request_)).status == status


def test_path_without_a_webhook_answers_no_test_of_an_address() -> None:
    assert not Reception([hook(Bearer())]).ingress.receivers


@given(st.text(max_size=600))
def test_answer_without_a_proof_never_holds_a_sign_of_html(word: str) -> None:
    request = asked("GET", headers=[("X-Okta-Verification-Challenge", word)])
    answered = unproven_handshake(request, [])
    if answered is not None:
        assert json.loads(answered.echo) == {"verification": word}
        assert not set(word) & set("<>&\"'\\\r\n\0")
        assert word.isascii()


def signed_by_zoom(body: bytes, secret: str = SECRET) -> RawRequest:
    time = str(int(NOON))
    digest = hmac.new(secret.encode(), f"v0:{time}:".encode() + body, hashlib.sha256).hexdigest()
    return asked("POST", headers=[("x-zm-signature", f"v0={digest}"), ("x-zm-request-timestamp", time)], body=body)


async def test_signed_test_of_zoom_is_answered_with_the_signature_of_its_word() -> None:
    body = b'{"event": "endpoint.url_validation", "payload": {"plainToken": "qgg8vlvZRS6UYooatFL8Aw"}}'
    answered = await reply(signed_by_zoom(body), ZOOM)
    expected = hmac.new(SECRET.encode(), b"qgg8vlvZRS6UYooatFL8Aw", hashlib.sha256).hexdigest()
    assert json.loads(answered.body) == {"plainToken": "qgg8vlvZRS6UYooatFL8Aw", "encryptedToken": expected}
    assert (await reply(signed_by_zoom(body, "guess"), ZOOM)).status == 401


async def test_text_with_the_form_of_a_delivery_is_never_signed() -> None:
    body = b'{"event": "endpoint.url_validation", "payload": {"plainToken": "v0:1:{}"}}'
    receiver = Reception([hook(ZOOM, SECRET)]).ingress
    assert b"encryptedToken" not in (await receiver.receive(signed_by_zoom(body))).body


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        ({"token": "t", "challenge": "3eZb", "type": "url_verification"}, []),
        (
            {"challenge": "3eZb", "subscription": {"id": "1"}},
            [("Twitch-Eventsub-Message-Type", "webhook_callback_verification")],
        ),
    ],
)
async def test_verified_challenge_is_answered_as_text(fields: dict[str, object], more: Headers) -> None:
    answered = await reply(asked("POST", headers=[*bearing(), *more], body=json.dumps(fields).encode()))
    assert (answered.status, answered.body) == (200, b"3eZb")


async def test_delivery_with_a_field_of_this_name_starts_a_run() -> None:
    reception = Reception([hook(Bearer(), SECRET)])
    assert await reception.send(b'{"challenge": "3eZb", "game": 7}', bearing()) == 200
    assert len(await reception.store.heads(1000)) == 1


def test_secret_of_a_webhook_is_no_part_of_an_answer() -> None:
    answered = unproven_handshake(
        asked("GET", f"hub.mode=subscribe&hub.verify_token={SECRET}&hub.challenge=1"), [Secret(SECRET)]
    )
    assert answered is not None
    assert SECRET not in repr(answered)
