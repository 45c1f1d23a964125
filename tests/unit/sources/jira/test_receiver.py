"""The Jira receiver: signatures, and deliveries translated to events."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.first_message import is_request
from gofer.sources.jira.receiver import TEXT_LIMIT, VALUE_LIMIT, JiraReceiver, sign
from gofer.sources.receiver import Ignored, RawRequest
from gofer.values.errors import BadRequest
from gofer.values.events import NOBODY, Actor, Event
from gofer.values.secret import Secret
from support.stand_ins import NOON

EVENTS = Path(__file__).parents[3] / "events"
SECRET = Secret("It's a Secret to Everybody")
OWN = "557058:gofer"
ADA = "5b10a2844c20165700ede21g"
RECEIVER = JiraReceiver((SECRET,), (OWN,))
BODY = b'{"webhookEvent":"comment_created"}'


def request(*headers: tuple[str, str], body: bytes = BODY) -> RawRequest:
    return RawRequest("POST", "/jira/webhook", headers, body)


def refusal(asked: RawRequest) -> str:
    with pytest.raises(BadRequest) as error:
        RECEIVER.verify(asked, NOON)
    assert error.value.status == 401
    return str(error.value)


def test_jira_signature_matches_the_published_example() -> None:
    # Jira's own example: the secret, a body and the header that goes with them.
    secret, body = Secret("It's a Secret to Everybody"), b"Hello World!"
    assert sign(secret, body) == "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"
    assert sign(SECRET, BODY) == "sha256=" + hmac.new(SECRET.reveal().encode(), BODY, hashlib.sha256).hexdigest()


def test_jira_receiver_accepts_both_secrets_of_a_rotation() -> None:
    old = Secret("the previous one")
    signed = ("x-hub-signature", sign(old, BODY))
    JiraReceiver((SECRET, old)).verify(request(signed), NOON)
    assert "does not match" in refusal(request(signed))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [""],
        ["sha256="],
        [sign(SECRET, BODY)[7:]],
        [sign(SECRET, BODY)] * 2,
        [f"{sign(SECRET, BODY)},{sign(SECRET, BODY)}"],
        [sign(SECRET, BODY).upper()],
        [sign(SECRET, BODY) + "0"],
        [sign(SECRET, BODY + b" ")],
        ["sha1=" + hmac.new(SECRET.reveal().encode(), BODY, "sha1").hexdigest()],
        ["none=0"],
        ["sha256=é"],
    ],
)
def test_jira_receiver_refuses_wrong_missing_doubled_and_malformed_signatures(headers: list[str]) -> None:
    assert refusal(request(*(("X-Hub-Signature", value) for value in headers)))


@given(st.lists(st.tuples(st.sampled_from(["x-hub-signature", "X-HUB-SIGNATURE"]), st.text())))
def test_jira_receiver_refuses_any_other_signature_header(headers: list[tuple[str, str]]) -> None:
    assert refusal(request(*headers))


def test_jira_receiver_without_a_secret_refuses_every_delivery() -> None:
    with pytest.raises(BadRequest):
        JiraReceiver(()).verify(request(("x-hub-signature", sign(Secret(""), BODY))), NOON)


def payload(name: str, **changes: object) -> dict[str, Any]:
    return json.loads((EVENTS / f"jira_{name}.json").read_text()) | changes


def verdict(body: object, receiver: JiraReceiver = RECEIVER) -> Any:
    return receiver.translate(request(body=json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("issue_created", {"user": None}),
        ("issue_updated", {"user": {"displayName": "Anonymous"}}),
        ("comment_created", {"comment": {"id": "10200", "author": None, "body": "@gofer status?"}}),
        ("attachment_created", {"issue": {"id": "1"}, "attachment": {"id": "2", "filename": "a.txt"}}),
    ],
)
def test_jira_event_without_a_person_is_accepted_as_anonymous(name: str, left_out: dict[str, object]) -> None:
    event = verdict(payload(name, **left_out))
    assert event.actor == NOBODY
    # What nobody in particular wrote is no request of a person, wherever it comes from.
    assert not is_request(event, followed=False)


def test_jira_comment_as_a_document_has_the_words_and_mentions_of_its_text() -> None:
    body = payload("comment_created")
    mention = {"type": "mention", "attrs": {"id": OWN, "text": "@Gofer Bot"}}
    struck = {"type": "text", "text": "now", "marks": [{"type": "strike"}]}
    words = [{"type": "text", "text": "cc"}, mention, {"type": "text", "text": "when? "}, struck]
    body["comment"] |= {
        "body": {"type": "doc", "content": [{"type": "paragraph", "content": words}]},
        "jsdPublic": False,
    }
    event = verdict(body)
    assert event.facts["says"] == "cc @gofer when? ~~now~~"
    assert event.place["internal"] == "true"
    assert is_request(event, followed=False)
    quoted = [{"type": "blockquote", "content": [{"type": "paragraph", "content": words}]}]
    body["comment"]["body"] = {"type": "doc", "content": quoted}
    assert not is_request(verdict(body), followed=False)


def test_jira_issue_with_a_document_as_description_has_its_words() -> None:
    text = {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "It broke"}]}]}
    issue = {"id": "1", "key": "OPS-1", "fields": {"summary": "Export", "description": text}}
    assert verdict(payload("issue_created", issue=issue)).text == "Export\n\nIt broke"
    changed = verdict(
        payload("issue_updated", changelog={"items": [file_item(field="Impact", fromString=None, toString=text)]})
    )
    assert changed.facts["changes"] == ["Impact:  -> It broke"]


def test_jira_event_of_a_customer_of_a_service_project_says_so() -> None:
    body = payload("comment_created")
    body["comment"]["author"]["accountType"] = "customer"
    assert verdict(body).actor == Actor(ADA, "customer")


def test_jira_updated_issue_becomes_an_event_with_the_changes() -> None:
    assert verdict(payload("issue_updated")) == Event(
        source="jira",
        kind="jira.issue_updated",
        identity=("jira.issue_updated", "10107", "10124", "1795262400123"),
        conversation="jira::10107",
        actor=Actor(ADA),
        text="status: To Do -> In Progress\nlabels: export -> export night",
        place={"issue": "OPS-7", "issue_id": "10107"},
        private=False,
        facts={
            "project": "OPS",
            "type": "Bug",
            "status": "In Progress",
            "labels": ["export", "night"],
            "changes": ["status: To Do -> In Progress", "labels: export -> export night"],
        },
    )


def test_jira_comment_becomes_an_event_of_the_issue() -> None:
    event = verdict(payload("comment_created"), JiraReceiver((), site="acme"))
    assert (event.kind, event.conversation) == ("jira.commented", "jira:acme:10107")
    assert event.identity == ("jira.commented", "10107", "10200", "1795262460456")
    assert event.text == "[~accountid:557058:gofer] which release was the first to stop?"
    assert event.place == {"issue": "OPS-7", "issue_id": "10107", "comment": "10200"}
    assert event.facts == {"project": "OPS", "type": "Bug", "status": "In Progress", "says": event.text}
    # A condition on a mention of Gofer does not have to know its account.
    assert verdict(payload("comment_created")).facts["says"] == "@gofer which release was the first to stop?"
    # Bodies of comments do not say whether their issue has a security level.
    assert event.private is None


def test_jira_data_center_comment_takes_the_issue_from_the_address() -> None:
    event = verdict(payload("server_comment_created"))
    assert (event.actor, event.conversation) == (Actor("JIRAUSER10100"), "jira::10107")
    assert event.place == {"issue_id": "10107", "comment": "10200"}
    assert event.identity == verdict(payload("comment_created")).identity
    assert event.facts == {"says": "Which release was the first to stop?"}


def test_jira_issue_with_a_security_level_is_private() -> None:
    event = verdict(payload("issue_created"))
    assert (event.kind, event.private) == ("jira.issue_created", True)
    assert event.text == "The nightly export stops at 40 %"
    assert event.identity == ("jira.issue_created", "10107", "", "1795262300000")
    assert event.facts["labels"] == []


def test_jira_comment_with_restricted_visibility_is_private() -> None:
    body = payload("comment_created")
    body["comment"]["visibility"] = {"type": "role", "value": "Administrators"}
    event = verdict(body)
    assert event.private is True
    assert (event.place["audience_type"], event.place["audience"]) == ("role", "Administrators")
    body["comment"]["visibility"] = {"type": 5}
    assert verdict(body).place["audience"] == "unknown"


def file_item(name: str = "export.log", **changes: object) -> dict[str, object]:
    return {"field": "Attachment", "from": None, "fromString": None, "to": "10300", "toString": name} | changes


def test_jira_attachment_has_the_same_identity_in_both_events() -> None:
    alone = verdict(payload("attachment_created", issue={"id": "10107", "key": "OPS-7"}))
    changed = verdict(payload("issue_updated", changelog={"id": "10125", "items": [file_item()]}))
    assert alone.kind == changed.kind == "jira.attachment_added"
    assert alone.identity == changed.identity == ("jira.attachment_added", "10107", "10300")
    assert alone.text == changed.text == "export.log"
    assert alone.place == {"issue": "OPS-7", "issue_id": "10107", "attachment": "10300"}
    assert alone.facts == {"project": "OPS", "files": ["export.log"]}
    removed = verdict(payload("issue_updated", changelog={"items": [file_item(to=None, toString=None)]}))
    assert removed.kind == "jira.issue_updated"


def test_jira_numeric_ids_equal_ids_as_text() -> None:
    body = payload("issue_updated")
    body["changelog"]["id"], body["issue"]["id"] = 10124, 10107
    assert verdict(body) == verdict(payload("issue_updated"))


def test_jira_actor_of_account_type_app_is_a_bot() -> None:
    app = {"accountId": "557058:automation", "accountType": "app"}
    assert verdict(payload("issue_updated", user=app)).actor == Actor("557058:automation", "bot")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (payload("issue_updated", user={"accountId": OWN}), "Gofer did it"),
        (payload("issue_updated", user={"key": "JIRAUSER1", "name": OWN}), "Gofer did it"),
        (
            payload("issue_created", user=None, issue={"id": "1", "fields": {"creator": {"accountId": OWN}}}),
            "Gofer did",
        ),
        (payload("issue_updated", issue=None), "which issue"),
        (payload("attachment_created"), "which issue"),
        (payload("comment_created", comment={"author": {"accountId": ADA}}), "which comment"),
        (
            payload("attachment_created", issue={"id": "1"}, attachment={"author": {"accountId": ADA}}),
            "which attachment",
        ),
        (payload("issue_updated", issue_event_type_name="issue_commented", changelog=None), "as separate events"),
        (payload("issue_updated", webhookEvent="jira:issue_deleted"), "'jira:issue_deleted' start nothing"),
        (payload("comment_created", webhookEvent="comment_updated"), "'comment_updated'"),
        (payload("issue_updated", webhookEvent=None), "its type"),
        ({}, "its type"),
    ],
)
def test_delivery_that_starts_no_run_is_ignored_with_a_reason(body: dict[str, object], reason: str) -> None:
    ignored = verdict(body)
    assert isinstance(ignored, Ignored)
    assert reason in ignored.reason


def test_jira_mention_is_separated_from_the_words_around() -> None:
    body = payload("comment_created")
    body["comment"]["body"] = "cc[~accountid:557058:gofer]which?"
    assert verdict(body).facts["says"] == "cc @gofer which?"


def test_jira_event_keeps_text_and_changes_up_to_the_limits() -> None:
    body = payload("comment_created")
    body["comment"]["body"] = "x" * 900_000
    cut = verdict(body)
    assert len(cut.text) == TEXT_LIMIT
    assert cut.place["cut"] == "true"
    long = file_item(field="description", fromString="a" * 9_000, toString="b" * 9_000)
    (change,) = verdict(payload("issue_updated", changelog={"items": [long]})).facts["changes"]
    assert change == f"description: {'a' * VALUE_LIMIT} -> {'b' * VALUE_LIMIT}"


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spoil(data: st.DataObject, value: dict[str, Any]) -> None:
    """Remove fields, add others and give some the wrong type, at every level."""
    for inner in [field for field in value.values() if isinstance(field, dict)]:
        spoil(data, inner)
    for name in data.draw(st.lists(st.sampled_from([*sorted(value), "new"]), max_size=2)):
        value[name] = data.draw(ANYTHING)
    for name in data.draw(st.lists(st.sampled_from([*sorted(value), "new"]), max_size=1)):
        value.pop(name, None)


NAMES = sorted(path.stem.removeprefix("jira_") for path in EVENTS.glob("jira_*.json"))


@given(st.data(), st.sampled_from(NAMES))
def test_jira_receiver_translates_any_payload_without_an_exception(data: st.DataObject, name: str) -> None:
    body = payload(name)
    spoil(data, body)
    if data.draw(st.booleans()):
        body["changelog"] = {"items": data.draw(st.lists(ANYTHING | st.just(file_item()), max_size=3))}
    found = verdict(body)
    assert isinstance(found, Event | Ignored)
    if isinstance(found, Event):
        assert all(isinstance(value, str) and value for value in found.place.values())
        assert all(isinstance(value, str | list) for value in found.facts.values())
        assert all(isinstance(part, str) for part in found.identity)
        json.dumps([found.text, found.place, found.facts, found.identity], ensure_ascii=False).encode()


@given(st.binary(max_size=200))
def test_jira_receiver_answers_any_body_without_an_exception(body: bytes) -> None:
    try:
        assert RECEIVER.translate(request(body=body))
    except BadRequest as refused:
        status = refused.status
    else:
        status = 400
    assert status == 400
