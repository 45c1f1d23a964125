"""The Notion receiver: signatures, verification tokens, and deliveries translated to events."""

import hashlib
import hmac
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.notion.receiver import NotionReceiver, sign
from gofer.sources.receiver import Handshake, Ignored, RawRequest, Registration
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret
from support.stand_ins import NOON

EVENTS = Path(__file__).parents[3] / "events"
SECRET = Secret("secret_of_the_subscription")
RECEIVER = NotionReceiver((SECRET,))
OPEN = replace(RECEIVER, registration=lambda: True)
BODY = b'{"type":"page.created"}'


def uuid(number: int) -> str:
    return f"0b1e6c1a-0000-4000-8000-{number:012}"


def request(*headers: tuple[str, str], body: bytes = BODY) -> RawRequest:
    return RawRequest("POST", "/notion/webhook", headers, body)


def signed(body: bytes = BODY, secret: Secret = SECRET) -> tuple[str, str]:
    return ("X-Notion-Signature", sign(secret, body))


def refused(asked: RawRequest, receiver: NotionReceiver = RECEIVER) -> bool:
    with pytest.raises(BadRequest) as error:
        receiver.verify(asked, NOON)
    return error.value.status == 401


def payload(name: str, **changes: Any) -> dict[str, Any]:
    return json.loads((EVENTS / f"notion_{name}.json").read_text()) | changes


def translated(body: object, receiver: NotionReceiver = RECEIVER) -> Any:
    return receiver.translate(request(body=json.dumps(body).encode()))


def test_notion_signature_is_an_hmac_over_the_body() -> None:
    assert sign(SECRET, BODY) == "sha256=" + hmac.new(SECRET.reveal().encode(), BODY, hashlib.sha256).hexdigest()


def test_notion_receiver_accepts_either_case_and_both_secrets_of_a_rotation() -> None:
    name, value = signed()
    RECEIVER.verify(request((name, value)), NOON)
    RECEIVER.verify(request((name, "sha256=" + value[7:].upper())), NOON)
    old = Secret("the previous one")
    NotionReceiver((SECRET, old)).verify(request(signed(secret=old)), NOON)
    assert refused(request(signed(secret=old)))


@pytest.mark.parametrize(
    "headers",
    [
        lambda name, value: [],
        lambda name, value: [(name, value), (name, value)],
        lambda name, value: [(name, value[7:])],
        lambda name, value: [(name, value + "0")],
        lambda name, value: [(name, value.replace("sha256=", "SHA256="))],
        lambda name, value: [(name, value.replace("sha256=", "sha1="))],
        lambda name, value: [(name, f"{value[:-1]}é")],
        lambda name, value: [(name, f"{value},{value}")],
        lambda name, value: [(name, f" {value}")],
        lambda name, value: [(name, "")],
    ],
)
def test_notion_receiver_refuses_wrong_missing_doubled_and_malformed_signatures(headers) -> None:
    assert refused(request(*headers(*signed())))


def test_notion_receiver_refuses_a_changed_body() -> None:
    assert refused(request(signed(), body=BODY + b" "))
    assert refused(request(signed()), NotionReceiver(()))


@given(st.lists(st.tuples(st.sampled_from(["x-notion-signature", "X-NOTION-SIGNATURE"]), st.text())), st.binary())
def test_notion_receiver_refuses_unsigned_requests_while_a_window_is_open(
    headers: list[tuple[str, str]], body: bytes
) -> None:
    assert refused(request(*headers, body=body), OPEN)


def handshake(**more: object) -> tuple[RawRequest, Secret]:
    body = json.dumps(payload("verification") | more).encode()
    token = Secret(payload("verification")["verification_token"])
    return request(signed(body, token), body=body), token


def test_notion_verification_token_is_accepted_while_the_window_is_open() -> None:
    asked, token = handshake()
    OPEN.verify(asked, NOON)
    taken = OPEN.translate(asked)
    assert isinstance(taken, Registration)
    assert taken.token.reveal() == token.reveal()
    assert token.reveal() not in repr(taken)


def test_notion_verification_token_is_ignored_while_no_window_is_open() -> None:
    asked, _ = handshake()
    for receiver in (RECEIVER, NotionReceiver(())):
        receiver.verify(asked, NOON)
        assert receiver.translate(asked) == Ignored(
            "no_open_window", "it offers a verification token while no window for one is open"
        )


def test_notion_verification_token_signs_only_the_verification_request() -> None:
    asked, _ = handshake(type="page.created")
    assert refused(asked, OPEN)
    asked, _ = handshake()
    assert refused(request(signed(asked.body, Secret("another")), body=asked.body), OPEN)
    for odd in ("", "short", "x" * 201, "ä" * 20, "two words two words", 5, None):
        body = json.dumps({"verification_token": odd}).encode()
        assert refused(request(signed(body, Secret(str(odd))), body=body), OPEN)
    assert isinstance(translated(payload("verification", type="x"), OPEN), Ignored)


def test_notion_property_change_becomes_an_event_with_property_ids() -> None:
    assert translated(payload("page_properties_updated")) == Event(
        source="notion",
        kind="notion.properties_updated",
        identity=(uuid(30), "page.properties_updated", "2026-11-21T12:00:41.310Z"),
        conversation=f"notion:{uuid(1)}:{uuid(30)}",
        actor=Actor(uuid(20)),
        text="Properties of a page were set.",
        place={"workspace": uuid(1), "page": uuid(30), "person": uuid(20)},
        private=False,
        facts={
            "database_id": [uuid(10), uuid(10).replace("-", ""), uuid(11), uuid(11).replace("-", "")],
            "properties": ["XGe%40", "title"],
            "bot": False,
        },
    )


def test_notion_comment_on_a_block_has_the_page_and_block_as_place() -> None:
    event = translated(payload("comment_created"))
    assert (event.kind, event.conversation) == ("notion.commented", f"notion:{uuid(1)}:{uuid(30)}")
    where = {"workspace": uuid(1), "page": uuid(30), "person": uuid(20), "comment": uuid(50)}
    assert event.place == {**where, "block": uuid(40)}
    assert (event.private, event.facts) == (None, {})
    data = {"page_id": uuid(30), "parent": {"id": uuid(30), "type": "page"}, "discussion_id": uuid(60)}
    event = translated(payload("comment_created", data=data))
    assert event.place == {**where, "discussion": uuid(60)}


def test_notion_event_is_public_only_for_a_database_row() -> None:
    row, page = translated(payload("page_created")), translated(payload("page_content_updated"))
    assert (row.kind, row.private) == ("notion.page_created", False)
    assert (page.kind, page.private, page.facts) == (
        "notion.content_updated",
        None,
        {"database_id": [], "database": []},
    )
    unsaid = translated(payload("page_created", data={}))
    assert (unsaid.private, unsaid.facts) == (None, {})


@given(st.integers(1, 8), st.text(max_size=40), st.booleans())
def test_notion_repeated_delivery_becomes_the_same_event(attempt: int, delivery: str, more: bool) -> None:
    again = payload("page_properties_updated", attempt_number=attempt, id=delivery) | ({"new": 1} if more else {})
    assert translated(again) == translated(payload("page_properties_updated"))


@pytest.mark.parametrize(
    ("authors", "verdict"),
    [
        ([("b", "bot")], "only bots did it"),
        ([("a", "agent"), ("b", "bot")], "only bots did it"),
        ([("own", "bot")], "Gofer did it"),
        ([("own", "bot"), ("own", "person")], "Gofer did it"),
        ([("own", "bot"), ("b", "bot")], "only bots did it"),
        ([], "it does not say who did it"),
        ([("own", "bot"), ("p", "person")], "p"),
        ([("b", "bot"), ("p", "person"), ("q", "person")], "p"),
    ],
)
def test_notion_event_by_bots_alone_is_ignored(authors: list[tuple[str, str]], verdict: str) -> None:
    receiver = replace(RECEIVER, own_bots=frozenset({"own"}))
    said = translated(payload("page_created", authors=[{"id": id_, "type": kind} for id_, kind in authors]), receiver)
    assert (said.reason if isinstance(said, Ignored) else said.actor.id) == verdict


def test_notion_property_change_by_a_bot_becomes_an_event_of_the_bot() -> None:
    own = {"authors": [{"id": "own", "type": "bot"}]}
    said = translated(payload("page_properties_updated", **own), replace(RECEIVER, own_bots=frozenset({"own"})))
    assert (said.actor, said.facts["bot"]) == (Actor("own", "bot"), True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"type": "page.deleted"}, "'page.deleted'"),
        ({"type": "comment.updated"}, "'comment.updated'"),
        ({"type": "data_source.schema_updated"}, "'data_source.schema_updated'"),
        ({"type": None}, "its type, which tells what happened, is missing"),
        ({"entity": {"id": "x", "type": "block"}}, "about something else than a page"),
        ({"entity": None}, "it lacks a page"),
        ({"timestamp": None}, "it lacks a time"),
        ({"workspace_id": 5, "timestamp": ""}, "it lacks a workspace and a time"),
        ({"type": "comment.created", "entity": {"id": "x", "type": "comment"}}, "it lacks a page"),
    ],
)
def test_delivery_that_starts_no_run_is_ignored_with_a_reason(changes: dict[str, object], reason: str) -> None:
    verdict = translated(payload("page_created", **changes))
    assert isinstance(verdict, Ignored)
    assert reason in verdict.reason


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{", b"\xff", b"a=b"])
def test_notion_body_other_than_a_json_object_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest) as error:
        RECEIVER.translate(request(body=body))
    assert error.value.status == 400


FIELDS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["page_created", "page_properties_updated", "page_content_updated", "comment_created"])


@given(NAMES, st.data())
def test_notion_receiver_translates_any_payload_without_an_exception(name: str, data: st.DataObject) -> None:
    body = payload(name)
    for part in (body, body["data"], body["entity"], body["authors"][0], body["data"]["parent"]):
        for field in data.draw(st.lists(st.sampled_from(sorted(part)), max_size=3)):
            part[field] = data.draw(FIELDS)
    verdict = translated(body)
    assert isinstance(verdict, Event | Handshake | Ignored)
    if isinstance(verdict, Event):
        assert all(isinstance(value, str) and value for value in verdict.place.values())
        lists = [values for values in verdict.facts.values() if not isinstance(values, bool)]
        assert all(isinstance(one, str) for values in lists for one in values)
        json.dumps([verdict.identity, verdict.facts, verdict.conversation], ensure_ascii=False).encode()
