"""The Slack receiver: signatures, and mentions and posts translated to events."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import Handshake, Ignored, RawRequest
from gofer.sources.slack.posts import TEXT_LIMIT
from gofer.sources.slack.receiver import SlackReceiver, sign
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret
from support.stand_ins import NOON

EVENTS = Path(__file__).parents[3] / "events"
SECRET = Secret("8f742231b10e8888abcd99yyyzzz85a5")
RECEIVER = SlackReceiver((SECRET,))
BODY = b'{"type":"event_callback"}'


def request(*headers: tuple[str, str], body: bytes = BODY) -> RawRequest:
    return RawRequest("POST", "/slack/events", headers, body)


def signed(body: bytes = BODY, at: float = NOON, secret: Secret = SECRET) -> list[tuple[str, str]]:
    timestamp = str(int(at))
    return [("X-Slack-Request-Timestamp", timestamp), ("X-Slack-Signature", sign(secret, timestamp, body))]


def translated(body: object) -> object:
    return RECEIVER.translate(request(body=json.dumps(body).encode()))


def refused(asked: RawRequest) -> bool:
    with pytest.raises(BadRequest) as error:
        RECEIVER.verify(asked, NOON)
    return error.value.status == 401


def test_slack_signature_is_an_hmac_over_version_time_and_body() -> None:
    base = b"v0:1531420618:" + BODY
    expected = "v0=" + hmac.new(SECRET.reveal().encode(), base, hashlib.sha256).hexdigest()
    assert sign(SECRET, "1531420618", BODY) == expected


def test_slack_receiver_accepts_a_signature_within_five_minutes() -> None:
    RECEIVER.verify(request(*signed()), NOON)
    RECEIVER.verify(request(*signed(at=NOON - 300)), NOON)
    RECEIVER.verify(request(*signed(at=NOON + 300)), NOON)
    assert refused(request(*signed(at=NOON - 301)))
    assert refused(request(*signed(at=NOON + 301)))


def test_slack_receiver_accepts_both_secrets_of_a_rotation() -> None:
    old = Secret("the previous one")
    SlackReceiver((SECRET, old)).verify(request(*signed(secret=old)), NOON)
    assert refused(request(*signed(secret=old)))


def test_slack_receiver_refuses_a_changed_body() -> None:
    assert refused(request(*signed(), body=BODY + b" "))


@pytest.mark.parametrize(
    "change",
    [
        lambda t, s: [],
        lambda t, s: [t],
        lambda t, s: [s],
        lambda t, s: [t, s, s],
        lambda t, s: [t, t, s],
        lambda t, s: [t, (s[0], f"{s[1]},{s[1]}")],
        lambda t, s: [(t[0], "yesterday"), s],
        lambda t, s: [(t[0], f" {t[1]}"), s],
        lambda t, s: [(t[0], f"{t[1]}.0"), s],
        lambda t, s: [(t[0], "-1"), s],
        lambda t, s: [(t[0], "1" * 400), s],
        lambda t, s: [(t[0], "１７９５２６２４００"), s],
        lambda t, s: [t, (s[0], s[1].upper())],
        lambda t, s: [t, (s[0], s[1][3:])],
        lambda t, s: [t, (s[0], "v0=é" + s[1][4:])],
        lambda t, s: [t, (s[0], s[1] + "0")],
        lambda t, s: [t, (s[0], "")],
    ],
)
def test_slack_receiver_refuses_wrong_missing_doubled_and_malformed_headers(change) -> None:
    assert refused(request(*change(*signed())))


@given(st.lists(st.tuples(st.sampled_from(["x-slack-signature", "X-SLACK-REQUEST-TIMESTAMP"]), st.text())))
def test_slack_receiver_refuses_any_other_signature_header(headers: list[tuple[str, str]]) -> None:
    assert refused(request(*headers))


def payload(**changes: object) -> dict[str, object]:
    body = json.loads((EVENTS / "slack_app_mention.json").read_text())
    body["event"] |= changes
    return body


def test_slack_mention_becomes_an_event() -> None:
    assert translated(payload()) == Event(
        source="slack",
        kind="slack.mention",
        identity=("C0GENERA0", "1795240812.000300"),
        conversation="slack:C0GENERA0:1795240812.000300",
        actor=Actor("U0NEWCO0"),
        text="<@U0GOFER0> hello, what can you do for me here?",
        place={
            "team": "T0ACME00",
            "channel": "C0GENERA0",
            "ts": "1795240812.000300",
            "thread_ts": "1795240812.000300",
            "client_msg_id": "6f7b2f6e-3d0c-4f5c-9f53-7d4c3f0f2a11",
        },
        facts={"bot": False, "channel_id": "C0GENERA0", "edited": False, "files": False, "reply": False},
    )


def test_slack_post_has_the_same_identity_as_mention_and_as_message() -> None:
    mention = translated(payload(thread_ts="1795240000.000100"))
    message = translated(payload(type="message", channel_type="channel", thread_ts="1795240000.000100"))
    assert isinstance(mention, Event)
    assert isinstance(message, Event)
    assert (mention.kind, mention.identity, mention.conversation) == (
        message.kind,
        message.identity,
        message.conversation,
    )
    assert mention.conversation.endswith(":1795240000.000100")
    assert (mention.private, message.private) == (None, False)


@pytest.mark.parametrize(("channel_type", "private"), [("group", True), ("mpim", True), ("new", None)])
def test_slack_channel_is_public_only_when_declared_public(channel_type: str, private: bool | None) -> None:
    event = translated(payload(channel_type=channel_type))
    assert isinstance(event, Event)
    assert event.private is private


def test_slack_channel_shared_with_another_company_is_not_public() -> None:
    event = translated(payload(channel_type="channel") | {"is_ext_shared_channel": True})
    assert isinstance(event, Event)
    assert event.private is None


def test_slack_event_keeps_the_text_up_to_the_limit() -> None:
    event = translated(payload(text="<@U0GOFER0>" + "x" * 900_000))
    assert isinstance(event, Event)
    assert len(event.text) == TEXT_LIMIT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"user": "USLACKBOT"}, "Slack wrote it"),
        ({"user": "U0GOFER0"}, "Gofer wrote it"),
        ({"user": None, "subtype": "bot_message", "bot_id": "B0GOFER0", "app_id": "A0GOFER0"}, "Gofer wrote it"),
        ({"bot_profile": {"app_id": "A0GOFER0"}}, "Gofer wrote it"),
        ({"subtype": "bot_message", "user": None}, "it lacks a user"),
        ({"type": "message", "subtype": "message_changed", "hidden": True}, "lacks the edited message"),
        ({"type": "message", "subtype": "message_deleted", "hidden": True}, "it lacks a ts of the deleted message"),
        ({"type": "message", "subtype": "channel_join"}, "'channel_join'"),
        ({"type": "message", "subtype": "assistant_app_thread"}, "'assistant_app_thread'"),
        ({"type": "message", "hidden": True}, "a hidden message"),
        ({"type": "message", "text": "hi", "blocks": [], "edited": {"user": "U1", "ts": "1.0"}}, "an edit"),
        ({"type": "assistant_thread_started"}, "'assistant_thread_started'"),
        ({"type": "app_home_opened", "tab": "messages"}, "'app_home_opened'"),
        ({"type": "reaction_removed"}, "it is no feedback on an answer"),
        ({"type": "emoji_changed"}, "'emoji_changed'"),
        ({"type": None}, "its type"),
        ({"ts": None}, "it lacks a ts"),
        ({"ts": None, "channel": None, "user": None}, "it lacks a user, a channel and a ts"),
        ({"channel": 5}, "it lacks a channel"),
        ({"user": []}, "it lacks a user"),
    ],
)
def test_delivery_that_starts_no_run_is_ignored_with_a_reason(changes: dict[str, object], reason: str) -> None:
    verdict = translated(payload(**changes))
    assert isinstance(verdict, Ignored)
    assert reason in verdict.reason


def test_slack_url_verification_returns_the_challenge() -> None:
    assert translated({"type": "url_verification", "challenge": "abc"}) == Handshake("abc")


def test_slack_delivery_without_an_event_is_ignored() -> None:
    assert isinstance(translated({"type": "app_rate_limited"}), Ignored)
    assert isinstance(translated({}), Ignored)
