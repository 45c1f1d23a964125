"""The Slack events that start or stop runs, and payloads of any form."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import Handshake, Ignored, RawRequest, Stop
from gofer.sources.receivers import known
from gofer.sources.slack.receiver import SlackReceiver
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event

EVENTS = Path(__file__).parents[3] / "events"
PAYLOADS = {path.stem.removeprefix("slack_"): path.read_text() for path in sorted(EVENTS.glob("slack_*.json"))}
RECEIVER = SlackReceiver(())
POST = ("C0GENERA0", "1795240900.000100")


def recorded(name: str, **changes: object) -> dict[str, Any]:
    body = json.loads(PAYLOADS[name])
    body["event"] |= changes
    return body


def translated(body: object) -> Event | Stop | Handshake | Ignored:
    return RECEIVER.translate(RawRequest("POST", "/slack/events", (), json.dumps(body).encode()))


def event(body: object) -> Event:
    verdict = translated(body)
    assert isinstance(verdict, Event), verdict
    return verdict


def reason(body: object) -> str:
    verdict = translated(body)
    assert isinstance(verdict, Ignored), verdict
    return verdict.reason


def stop(body: object) -> Stop:
    verdict = translated(body)
    assert isinstance(verdict, Stop), verdict
    return verdict


def test_slack_channel_message_event_says_whether_a_reply_and_with_files() -> None:
    reply, file = event(recorded("message")), event(recorded("file"))
    assert (reply.kind, reply.identity, reply.private) == ("slack.message", POST, False)
    assert reply.conversation == "slack:C0GENERA0:1795240812.000300"
    assert (reply.facts["reply"], reply.facts["files"], reply.facts["bot"]) == (True, False, False)
    # A file without a text still counts.
    assert (file.kind, file.text, file.facts["files"], file.facts["reply"]) == ("slack.message", "", True, False)


def test_slack_post_that_mentions_gofer_is_a_mention_in_either_event_type() -> None:
    text = "<@U0GOFER0|gofer> look"
    message, mention = event(recorded("message", text=text)), event(recorded("message", type="app_mention", text=text))
    assert {message.kind, mention.kind} == {"slack.mention"}
    assert message.identity == mention.identity == POST
    assert event(recorded("message", text="<@U0GOFER01> hi")).kind == "slack.message"
    assert event(recorded("message", channel_type="mpim")).kind == "slack.message"


def rich(*parts: object) -> list[object]:
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(parts)}]}]


def forwarded(text: str) -> list[object]:
    message = {
        "text": text,
        "blocks": rich({"type": "user", "user_id": "U0GOFER0"}, {"type": "text", "text": " deploy"}),
    }
    return [{"is_share": True, "text": text, "fallback": text, "message_blocks": [{"message": message}]}]


def test_slack_mention_in_the_blocks_of_an_app_is_a_mention() -> None:
    blocks = rich({"type": "user", "user_id": "U0GOFER0"}, {"type": "text", "text": " summarise <this>"})
    posted = event(recorded("bot_message", text="Deploy finished", blocks=blocks))
    assert (posted.kind, posted.text) == (
        "slack.mention",
        "Deploy finished\n<@U0GOFER0> summarise &lt;this&gt;",
    )
    # Text that only looks like a mention is none, and neither is one in a text without markup.
    quoted = rich({"type": "text", "text": "<@U0GOFER0> deploy"})
    plain = [{"type": "header", "text": {"type": "plain_text", "text": "<@U0GOFER0> deploy"}}]
    for fake in (quoted, plain):
        assert event(recorded("bot_message", text="Deploy finished", blocks=fake)).kind == "slack.message"


@pytest.mark.parametrize("name", ["message", "bot_message"])
def test_slack_forwarded_mention_is_no_mention(name: str) -> None:
    attachments = forwarded("<@U0GOFER0> deploy")
    assert event(recorded(name, text="look at this", blocks=[], attachments=attachments)).kind == "slack.message"
    both = recorded(name, type="app_mention", text="look at this", blocks=[], attachments=attachments)
    assert reason(both) == "only a message that it forwards or attaches mentions Gofer"
    both["event"]["text"] = "<@U0GOFER0> look"
    assert event(both).kind == "slack.mention"


def test_slack_preview_that_names_gofer_is_no_edit_that_adds_a_mention() -> None:
    body = recorded("edit")
    body["event"]["message"] |= {"text": "one", "blocks": [], "attachments": forwarded("<@U0GOFER0> deploy")}
    assert reason(body) == "it is an edit that does not add a mention of Gofer"


def test_slack_text_of_an_event_has_the_attachments_of_an_app_only() -> None:
    alert = [
        {"title": "Queue <full>", "text": "payments *is down*", "fields": [{"title": "Severity", "value": "high"}]}
    ]
    app = event(recorded("bot_message", text="", blocks=[], attachments=alert))
    assert known(app)["says"] == "Queue <full>\npayments *is down*\nSeverity: high"
    person = event(recorded("message", text="see", blocks=[], attachments=alert))
    assert known(person)["says"] == "see"
    workflow = event(recorded("message", text="", blocks=rich({"type": "text", "text": "a request"})))
    assert workflow.text == "a request"


def test_slack_direct_message_is_a_direct_event_with_or_without_a_mention() -> None:
    for text in ("hello", "<@U0GOFER0> hello"):
        said = event(recorded("direct", text=text))
        assert (said.kind, said.private) == ("slack.direct", True)
        assert said.conversation == "slack:D0NEWCO0:1795240890.000200"


def test_slack_edit_that_adds_a_mention_becomes_a_mention() -> None:
    added = event(recorded("edit"))
    assert (added.kind, added.identity, added.actor) == ("slack.mention", POST, Actor("U0NEWCO0"))
    assert (added.facts["edited"], added.facts["reply"], added.place["channel"]) == (True, False, "C0GENERA0")
    # The same edit in the other form that Slack sends.
    told = recorded("edit")["event"]["message"] | {"type": "app_mention", "channel": "C0GENERA0"}
    assert event(recorded("edit") | {"event": told}).identity == POST


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ({"text": "<@U0GOFER0> one"}, {"text": "<@U0GOFER0> one"}),
        ({"text": "<@U0GOFER0> two"}, {"text": "<@U0GOFER0> one"}),
        ({"text": "two"}, {"text": "<@U0GOFER0> one"}),
        ({"text": "one", "attachments": [{"id": 1}]}, {"text": "one"}),
        ({"text": "one", "reply_count": 2}, {"text": "one", "reply_count": 1}),
        ({"text": "<@U0GOFER0> one"}, None),
        ({"text": "<@U0GOFER0> one", "user": "U0GOFER0"}, {"text": "one"}),
    ],
)
def test_slack_edits_without_a_new_mention_are_ignored(now: dict[str, Any], before: object) -> None:
    body = recorded("edit")
    body["event"]["message"] |= now
    body["event"]["previous_message"] = body["event"]["previous_message"] | before if before else None
    assert reason(body)


def test_slack_bot_post_becomes_a_bot_event_with_the_hop_count() -> None:
    posted = event(recorded("bot_message"))
    assert (posted.actor, posted.facts["bot"], posted.hops) == (Actor("U0OTHER0", "bot"), True, 2)
    nameless = event(recorded("bot_message", subtype="bot_message", user=None, metadata=None))
    assert (nameless.actor, nameless.hops) == (Actor("B0OTHER0", "bot"), 0)
    # Posts of people have no hops, whatever their metadata.
    assert event(recorded("message", metadata={"event_payload": {"hops": 4}})).hops == 0


@pytest.mark.parametrize(("hops", "counted"), [(0, 1), (5, 6), (-3, 1), (10**400, 1_001), ("4", 0), (True, 0)])
def test_slack_hop_count_is_limited_to_a_small_number(hops: object, counted: int) -> None:
    assert event(recorded("bot_message", metadata={"event_payload": {"hops": hops}})).hops == counted


def test_slack_acts_of_gofer_are_ignored() -> None:
    own = {"user": "U0GOFER0", "bot_id": "B0GOFER0"}
    for name in ("message", "file", "direct", "reaction", "bot_message"):
        assert reason(recorded(name, **own))
    assert reason(recorded("member_joined", inviter=None)) == "Gofer joined the channel by itself"
    created = recorded("channel_created")
    created["event"]["channel"]["creator"] = "U0GOFER0"
    assert reason(created) == "Gofer created it"


def test_slack_event_without_authorizations_counts_only_as_app_mention() -> None:
    nobody = {"authorizations": []}
    assert all("does not name Gofer" in reason(recorded(name) | nobody) for name in ("message", "reaction"))
    assert event(recorded("app_mention") | nobody).kind == "slack.mention"


def test_slack_reaction_has_a_separate_identity_in_the_conversation_of_the_message() -> None:
    put = event(recorded("reaction", reaction="+1::skin-tone-3"))
    assert put.kind == "slack.reaction"
    assert put.identity == ("C0GENERA0", "1795240812.000300", "+1", "U0CAPTN0")
    assert put.facts["emoji"] == ["+1", "+1::skin-tone-3"]
    assert "bot" not in put.facts
    other = event(recorded("reaction", user="U0ONCAL0"))
    assert (put.conversation, put.private) == (other.conversation, None)
    assert put.identity != other.identity
    assert put.place == {
        "team": "T0ACME00",
        "channel": "C0GENERA0",
        "ts": "1795240812.000300",
        "thread_ts": "1795240812.000300",
        "reaction": "+1",
        "user": "U0CAPTN0",
    }


def test_slack_reaction_has_the_same_name_for_both_spellings_of_an_accent() -> None:
    assert event(recorded("reaction", reaction="de\u0301ja\u0300")).facts["emoji"] == ["déjà"]


def test_slack_reaction_on_a_file_is_ignored() -> None:
    assert reason(recorded("reaction", item={"type": "file", "file": "F1"})) == "it is not on a message"


def test_slack_new_channel_and_new_member_become_events_with_their_facts() -> None:
    created, invited = event(recorded("channel_created")), event(recorded("member_joined"))
    came = event(recorded("member_joined", user="U0ONCAL0", inviter=None))
    assert (created.kind, created.facts["name"], created.private) == ("slack.channel_created", "proj-x", False)
    assert (invited.facts["member"], invited.actor.id) == ("gofer", "U0CAPTN0")
    assert (came.facts["member"], came.actor.id) == ("person", "U0ONCAL0")
    assert created.conversation == invited.conversation == "slack:C0PROJX00"
    again = event(recorded("member_joined", event_ts="1795249999.000100"))
    assert again.identity != invited.identity


def test_slack_deleted_message_stops_the_runs_of_that_message() -> None:
    for name in ("deleted", "tombstone"):
        asked = stop(recorded(name))
        assert asked.identity == ("C0GENERA0", "1795240812.000300")
        assert "slack.mention" in asked.kinds
        assert (asked.silent, asked.conversation) == (True, "")
    own = recorded("deleted")
    own["event"]["previous_message"] |= {"user": "U0GOFER0", "bot_id": "B0GOFER0"}
    assert reason(own) == "a message of Gofer's was deleted"


@pytest.mark.parametrize("emoji", ["octagonal_sign", "no_entry", "no_entry_sign"])
def test_slack_stop_emoji_stops_runs_requested_by_the_same_person(emoji: str) -> None:
    asked = stop(recorded("reaction", reaction=emoji))
    assert (asked.of, asked.on, asked.silent) == ("U0CAPTN0", "1795240812.000300", False)
    assert asked.conversation == "slack:C0GENERA0:*"


def test_slack_stop_button_stops_the_runs_of_the_session() -> None:
    asked = stop(recorded("session_stopped"))
    assert (asked.conversation, asked.of, asked.on) == ("slack:D0NEWCO0:1795240890.000200", "", "")


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
    | st.sampled_from(["\ud800", "U0GOFER0", "message_changed", "tombstone", "octagonal_sign"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value: object, path: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def is_sound(verdict: object) -> bool:
    """Return whether a verdict is one of the four and can be stored."""
    match verdict:
        case Event(text=text, place=place, conversation=conversation, identity=identity, facts=facts, hops=hops):
            json.dumps(facts).encode()
            words = [text, conversation, *identity]
            assert all(isinstance(value, str) and value for value in place.values())
            return hops >= 0 and all(word.encode() is not None for word in words)
        case Stop(item=item, by=by):
            return bool(item.encode() and by)
        case Ignored(reason=reason):
            return bool(reason.encode())
        case _:
            return isinstance(verdict, Handshake)


@pytest.mark.parametrize("name", PAYLOADS)
@given(data=st.data())
def test_slack_receiver_translates_any_changed_payload_without_an_exception(name: str, data: st.DataObject) -> None:
    payload = json.loads(PAYLOADS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.sampled_from(list(places(payload)) or [("type",)]))
        around = payload
        for part in at[:-1]:
            around = around[part]
        match data.draw(st.sampled_from(["remove", "replace", "add"])):
            case "remove":
                around.pop(at[-1]) if not isinstance(around, dict) or at[-1] in around else None
            case "replace":
                around[at[-1]] = data.draw(ODD)
            case _ if isinstance(around, dict):
                around[data.draw(st.text())] = data.draw(ODD)
            case _:
                around.append(data.draw(ODD))
    assert is_sound(translated(payload))


@pytest.mark.parametrize("name", PAYLOADS)
def test_slack_receiver_translates_payloads_with_any_field_replaced(name: str) -> None:
    payload = json.loads(PAYLOADS[name])
    for at in places(payload):
        for odd in (None, True, 0, 10**400, "", "\ud800", [], {}, [[]], {"": {}}):
            changed = copy.deepcopy(payload)
            around = changed
            for part in at[:-1]:
                around = around[part]
            around[at[-1]] = odd
            assert is_sound(translated(changed))


@pytest.mark.parametrize("depth", [101, 10_000])
def test_slack_payload_nested_too_deep_is_a_bad_request(depth: int) -> None:
    body = b'{"type":"event_callback","event":' + b'{"item":' * depth + b"1" + b"}" * depth + b"}"
    with pytest.raises(BadRequest) as refused:
        RECEIVER.translate(RawRequest("POST", "/slack/events", (), body))
    assert refused.value.status == 400
