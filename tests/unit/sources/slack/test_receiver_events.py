"""What each event of Slack means, and that no payload whatever is an exception."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import Handshake, Ignored, RawRequest, Stop
from gofer.sources.slack.receiver import SlackReceiver
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event

EVENTS = Path(__file__).parents[3] / "events"
PAYLOADS = {path.stem.removeprefix("slack_"): path.read_text() for path in sorted(EVENTS.glob("slack_*.json"))}
DOOR = SlackReceiver(())
POST = ("T0ACME00", "C0GENERA0", "1795240900.000100")


def recorded(name: str, **changes: object) -> dict[str, Any]:
    body = json.loads(PAYLOADS[name])
    body["event"] |= changes
    return body


def translated(body: object) -> Event | Stop | Handshake | Ignored:
    return DOOR.translate(RawRequest("POST", "/slack/events", (), json.dumps(body).encode()))


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


def test_a_message_of_a_channel_says_whether_it_is_a_reply_and_has_files() -> None:
    reply, file = event(recorded("message")), event(recorded("file"))
    assert (reply.kind, reply.identity, reply.private) == ("slack.message", POST, False)
    assert reply.conversation == "slack:T0ACME00:C0GENERA0:1795240812.000300"
    assert (reply.facts["reply"], reply.facts["files"], reply.facts["bot"]) == (True, False, False)
    # A bare file: nothing is said, and it counts all the same.
    assert (file.kind, file.text, file.facts["files"], file.facts["reply"]) == ("slack.message", "", True, False)


def test_a_post_that_mentions_gofer_is_a_mention_whatever_brings_it() -> None:
    text = "<@U0GOFER0|gofer> look"
    message, mention = event(recorded("message", text=text)), event(recorded("message", type="app_mention", text=text))
    assert {message.kind, mention.kind} == {"slack.mention"}
    assert message.identity == mention.identity == POST
    assert event(recorded("message", text="<@U0GOFER01> hi")).kind == "slack.message"
    assert event(recorded("message", channel_type="mpim")).kind == "slack.message"


def test_what_is_said_to_gofer_alone_is_direct_with_and_without_a_mention() -> None:
    for text in ("hello", "<@U0GOFER0> hello"):
        said = event(recorded("direct", text=text))
        assert (said.kind, said.private) == ("slack.direct", True)
        assert said.conversation == "slack:T0ACME00:D0NEWCO0:1795240890.000200"


def test_an_edit_counts_when_it_adds_the_mention_and_is_the_message_then() -> None:
    added = event(recorded("edit"))
    assert (added.kind, added.identity, added.actor) == ("slack.mention", POST, Actor("U0NEWCO0"))
    assert (added.facts["edited"], added.facts["reply"], added.place["channel"]) == (True, False, "C0GENERA0")
    # The same edit as Slack tells of it in the other way.
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
def test_other_edits_previews_and_thread_counts_start_nothing(now: dict[str, Any], before: object) -> None:
    body = recorded("edit")
    body["event"]["message"] |= now
    body["event"]["previous_message"] = body["event"]["previous_message"] | before if before else None
    assert reason(body)


def test_a_bots_post_is_an_event_that_says_so_and_counts_its_hops() -> None:
    posted = event(recorded("bot_message"))
    assert (posted.actor, posted.facts["bot"], posted.hops) == (Actor("U0OTHER0", "bot"), True, 2)
    nameless = event(recorded("bot_message", subtype="bot_message", user=None, metadata=None))
    assert (nameless.actor, nameless.hops) == (Actor("B0OTHER0", "bot"), 0)
    # What a person writes stands behind nothing, whatever it carries.
    assert event(recorded("message", metadata={"event_payload": {"hops": 4}})).hops == 0


@pytest.mark.parametrize(("hops", "counted"), [(0, 1), (5, 6), (-3, 1), (10**400, 1_001), ("4", 0), (True, 0)])
def test_hops_are_a_small_number_whatever_somebody_writes(hops: object, counted: int) -> None:
    assert event(recorded("bot_message", metadata={"event_payload": {"hops": hops}})).hops == counted


def test_nothing_that_gofer_does_itself_starts_anything() -> None:
    own = {"user": "U0GOFER0", "bot_id": "B0GOFER0"}
    for name in ("message", "file", "direct", "reaction", "bot_message"):
        assert reason(recorded(name, **own))
    assert reason(recorded("member_joined", inviter=None)) == "Gofer joined the channel by itself"
    created = recorded("channel_created")
    created["event"]["channel"]["creator"] = "U0GOFER0"
    assert reason(created) == "Gofer created it"


def test_without_knowing_who_gofer_is_only_its_own_event_type_counts() -> None:
    nobody = {"authorizations": []}
    assert all("does not name Gofer" in reason(recorded(name) | nobody) for name in ("message", "reaction"))
    assert event(recorded("app_mention") | nobody).kind == "slack.mention"


def test_an_emoji_is_a_happening_of_its_own_in_the_conversation_of_its_message() -> None:
    put = event(recorded("reaction", reaction="+1::skin-tone-3"))
    assert put.kind == "slack.reaction"
    assert put.identity == ("T0ACME00", "C0GENERA0", "1795240812.000300", "+1", "U0CAPTN0")
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


def test_an_emoji_on_a_file_starts_nothing() -> None:
    assert reason(recorded("reaction", item={"type": "file", "file": "F1"})) == "it is not on a message"


def test_a_new_channel_and_a_new_member_are_told_with_what_narrows_them() -> None:
    created, invited = event(recorded("channel_created")), event(recorded("member_joined"))
    came = event(recorded("member_joined", user="U0ONCAL0", inviter=None))
    assert (created.kind, created.facts["name"], created.private) == ("slack.channel_created", "proj-x", False)
    assert (invited.facts["member"], invited.actor.id) == ("gofer", "U0CAPTN0")
    assert (came.facts["member"], came.actor.id) == ("person", "U0ONCAL0")
    assert created.conversation == invited.conversation == "slack:T0ACME00:C0PROJX00"
    again = event(recorded("member_joined", event_ts="1795249999.000100"))
    assert again.identity != invited.identity


def test_a_deletion_stops_what_the_message_started_in_either_form() -> None:
    for name in ("deleted", "tombstone"):
        asked = stop(recorded(name))
        assert asked.identity == ("T0ACME00", "C0GENERA0", "1795240812.000300")
        assert "slack.mention" in asked.kinds
        assert (asked.silent, asked.conversation) == (True, "")
    own = recorded("deleted")
    own["event"]["previous_message"] |= {"user": "U0GOFER0", "bot_id": "B0GOFER0"}
    assert reason(own) == "a message of Gofer's was deleted"


@pytest.mark.parametrize("emoji", ["octagonal_sign", "no_entry", "no_entry_sign"])
def test_a_stop_sign_stops_what_the_same_person_asked_for_there(emoji: str) -> None:
    asked = stop(recorded("reaction", reaction=emoji))
    assert (asked.of, asked.on, asked.silent) == ("U0CAPTN0", "1795240812.000300", False)
    assert asked.conversation == "slack:T0ACME00:C0GENERA0:*"


def test_the_stop_button_stops_its_session() -> None:
    asked = stop(recorded("session_stopped"))
    assert (asked.conversation, asked.of, asked.on) == ("slack:T0ACME00:D0NEWCO0:1795240890.000200", "", "")


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
    """Whether a verdict is one of the four, and could be stored."""
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
def test_no_payload_is_an_exception(name: str, data: st.DataObject) -> None:
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
def test_each_field_may_be_missing_or_anything(name: str) -> None:
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
def test_what_is_nested_too_deep_is_refused(depth: int) -> None:
    body = b'{"type":"event_callback","event":' + b'{"item":' * depth + b"1" + b"}" * depth + b"}"
    with pytest.raises(BadRequest) as refused:
        DOOR.translate(RawRequest("POST", "/slack/events", (), body))
    assert refused.value.status == 400
