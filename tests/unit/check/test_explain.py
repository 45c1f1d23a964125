"""`gofer explain`: the workflows that a payload starts, the reason why it starts none, or its error."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.check.explain import DeliveryPath, Explanation, explain
from gofer.sources.slack.interactivity import InteractivityReceiver
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.workflow_files import TriggerForm
from gofer.workflows.routes import Routes, read_routes
from support.property_examples import examples
from support.sources.every_delivery import changed, places, put

EVENTS = sorted((Path(__file__).parents[2] / "events").glob("slack_*.json"))
MENTION = json.loads((Path(__file__).parents[2] / "events" / "slack_app_mention.json").read_text())
ROUTES = read_routes({"slack.mention": [("answer-here", {"bot": ["false"]})]})
NAMES = ["file", "kind", "dedupe_key", "actor", "bot", "private", "workflows", "decided", "ignored_because", "error"]


def explained(raw: bytes | str, routes: Routes = ROUTES) -> list[Explanation]:
    return list(
        explain("f.json", raw if isinstance(raw, bytes) else raw.encode(), DeliveryPath(SlackReceiver(()), routes))
    )


def one(raw: bytes | str) -> Explanation:
    (explanation,) = explained(raw)
    return explanation


def with_event(**changes: object) -> dict[str, Any]:
    return MENTION | {"event": MENTION["event"] | changes}


def answered(explanation: Explanation) -> bool:
    """Whether an explanation is exactly one of: starts a workflow, ignored for a reason, no payload."""
    line = explanation.to_json()
    line.encode()
    value = json.loads(line)
    outcomes = [bool(value["workflows"]), value["ignored_because"] is not None, value["error"] is not None]
    return list(value) == NAMES and "\n" not in line and outcomes.count(True) == 1


def test_explained_mention_names_the_matching_workflow() -> None:
    assert one(json.dumps(MENTION)) == Explanation(
        file="f.json",
        kind="slack.mention",
        dedupe_key="slack.mention:C0GENERA0:1795240812.000300",
        actor="U0NEWCO0",
        bot=False,
        private=None,
        workflows=("answer-here",),
    )
    assert [field.name for field in fields(Explanation)] == NAMES


def test_explained_post_has_one_deduplication_key_for_every_event_type() -> None:
    retry = with_event(type="message", channel_type="channel") | {"event_id": "Ev2"}
    first, second = explained(json.dumps([MENTION, retry]))
    assert first.dedupe_key == second.dedupe_key
    assert (first.private, second.private) == (None, False)


def test_explained_reaction_shows_every_name_of_the_required_emoji() -> None:
    trigger = TriggerForm.model_validate({"slack.reaction": {"emoji": "thumbsup"}})
    routes = read_routes({kind: [("w", where)] for kind, where in trigger.compiled()})
    item = {"type": "message", "channel": "C0GENERA0", "ts": "1795240812.000300"}
    reactions = [with_event(type="reaction_added", item=item, reaction=name) for name in ("+1::skin-tone-3", "tada")]
    sent, other = explained(json.dumps(reactions), routes)
    assert sent.workflows == ("w",)
    assert other.ignored_because == "w requires `emoji: [thumbsup, +1]` (this is `tada`)"


@pytest.mark.parametrize(
    ("payload", "reason", "actor", "bot"),
    [
        (with_event(bot_id="B1", user=None), "answer-here takes nothing from bots, because its `who`", "B1", True),
        (with_event(user="U0GOFER0"), "Gofer wrote it", "U0GOFER0", True),
        (
            with_event(type="message", text="hello", blocks=None),
            "no workflow listens to slack.message",
            "U0NEWCO0",
            False,
        ),
        (with_event(type="message", text="hello", hidden=True), "it is a hidden message", "U0NEWCO0", False),
        (with_event(type="reaction_removed"), "it is no feedback on an answer", "U0NEWCO0", False),
        (with_event(type="reaction_added"), "it lacks an item", "U0NEWCO0", False),
        (with_event(type="reaction_added", item={"type": "file"}), "it is not on a message", "U0NEWCO0", False),
        (
            with_event(type="agent_session_stopped", thread_ts="1.0"),
            "it stops the runs that it concerns",
            "U0NEWCO0",
            False,
        ),
        (with_event(ts=None), "it lacks a ts", "U0NEWCO0", False),
        (MENTION | {"event": None}, "it lacks an event", None, None),
        ({"type": "url_verification", "challenge": "c"}, "it is the sender's test of the URL", None, None),
        ({}, "its type, which tells what happened", None, None),
    ],
)
def test_ignored_payload_is_explained_with_a_reason(
    payload: object, reason: str, actor: str | None, bot: bool | None
) -> None:
    told = one(json.dumps(payload))
    assert (told.actor, told.bot, told.workflows, told.error) == (actor, bot, (), None)
    assert reason in (told.ignored_because or "")


def test_event_without_a_matching_workflow_is_explained() -> None:
    (told,) = explained(json.dumps(MENTION), read_routes({}))
    assert (told.kind, told.ignored_because) == ("slack.mention", "no workflow listens to slack.mention")


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "The file contains no payload"),
        (b"\n \n", "The file contains no payload"),
        (b"{", "not JSON"),
        (b"\xff{}", "not text in UTF-8"),
        (b"\x1f\x8b\x08{}", "compressed with gzip"),
        (b'{"a": NaN}', "holds NaN, an infinity or a number of thousands of digits"),
        (b"[" * 10_000 + b"]" * 10_000, "nested deeper than 100 levels"),
        (b'{"event":' * 10_000 + b"1" + b"}" * 10_000, "nested deeper than 100 levels"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "nested deeper than 100 levels"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a number of thousands of digits"),
        (b"7", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"text": "' + b"x" * 1_000_001 + b'"}', "larger than"),
        (json.dumps(MENTION, indent=2).encode()[:-2], "not JSON"),
    ],
)
def test_malformed_payload_is_explained_with_one_error(raw: bytes, sentence: str) -> None:
    told = one(raw)
    assert sentence in (told.error or "")
    assert answered(told)


def test_explained_file_holds_a_list_or_one_payload_per_line() -> None:
    assert [told.error for told in explained(json.dumps([MENTION, 7, MENTION]))] == [
        None,
        "The payload is not a JSON object.",
        None,
    ]
    lines = "\r\n".join([json.dumps(MENTION), "", "{broken", json.dumps(MENTION) + " "])
    assert [told.kind for told in explained(lines)] == ["slack.mention", None, "slack.mention"]
    deep = '{"a":' * 10_000 + "1" + "}" * 10_000
    assert [told.kind for told in explained(f"{deep}\n{json.dumps(MENTION)}\n")] == [None, "slack.mention"]


@pytest.mark.parametrize("event", EVENTS, ids=lambda path: path.stem)
@examples(0.5)
@given(data=st.data())
def test_changed_payload_has_one_explanation(event: Path, data: st.DataObject) -> None:
    payload = data.draw(changed(json.loads(event.read_text())))
    assert answered(one(json.dumps(payload)))


def test_payload_with_any_field_missing_or_odd_has_one_explanation() -> None:
    for event in EVENTS:
        payload = json.loads(event.read_text())
        for at in places(payload):
            for odd in (None, True, 0, 10**400, "", "\ud800", [], {}, [[]], {"": {}}):
                assert answered(one(json.dumps(put(payload, at, odd)))), (event, at, odd)


def test_button_press_is_explained_as_starting_no_workflow() -> None:
    button = {"type": "button", "action_id": "approve", "value": "x", "action_ts": "1795262400.5"}
    payload = {"type": "block_actions", "user": {"id": "U1"}, "actions": [button]}
    (told,) = explain("f.json", json.dumps(payload).encode(), DeliveryPath(InteractivityReceiver(()), ROUTES))
    assert (told.actor, told.bot, told.workflows) == ("U1", False, ())
    assert (
        told.ignored_because
        == "it is the click of a button, which starts no workflow and is stored for the run that asked"
    )


@given(st.binary() | st.text().map(lambda text: text.encode(errors="surrogatepass")))
@example(b"{}\n{}\n[")
@example(b"{\n{")
@example(b"\xef\xbb\xbf{}")
def test_arbitrary_bytes_are_explained_without_an_exception(raw: bytes) -> None:
    told = explained(raw)
    assert told
    assert all(answered(explanation) for explanation in told)
