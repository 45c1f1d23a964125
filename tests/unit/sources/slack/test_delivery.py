"""Whom a Slack delivery names: Gofer's own account, its workspace, and the person to whom a message is addressed."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import Ignored, PossibleFeedback, RawRequest
from gofer.sources.slack.message_text import SUBTYPES
from gofer.sources.slack.receiver import SlackReceiver
from gofer.values.events import Actor, Event

EVENTS = Path(__file__).parents[3] / "events"
BOT: Mapping[str, object] = {"enterprise_id": None, "team_id": "T0ACME00", "user_id": "U0GOFER0", "is_bot": True}
INSTALLER = {**BOT, "user_id": "U0NEWCO0", "is_bot": False}
ACCOUNT = frozenset({"T0ACME00", "U0GOFER0"})


def delivered(name: str, account: frozenset[str] = frozenset(), **changes: object) -> Event | Ignored:
    body = json.loads((EVENTS / f"slack_{name}.json").read_text())
    for key, value in changes.items():
        holder = body if key in body else body["event"]
        holder[key] = value
    raw = json.dumps(body).encode()
    verdict = SlackReceiver((), account).translate(RawRequest("POST", "/slack/events", (), raw))
    if isinstance(verdict, PossibleFeedback) and verdict.event is not None:
        return verdict.event
    assert isinstance(verdict, Event | Ignored)
    return verdict


def event(name: str, account: frozenset[str] = frozenset(), **changes: object) -> Event:
    verdict = delivered(name, account, **changes)
    assert isinstance(verdict, Event), verdict
    return verdict


@pytest.mark.parametrize("name", ["app_mention", "message", "direct", "reaction"])
@pytest.mark.parametrize("authorizations", [[INSTALLER], [INSTALLER, BOT], [BOT, INSTALLER], [], None, "x", [None, 5]])
def test_installer_of_the_app_is_a_person(name: str, authorizations: object) -> None:
    said = event(name, ACCOUNT, authorizations=authorizations, user="U0NEWCO0")
    assert (said.actor, said.place["team"]) == (Actor("U0NEWCO0"), "T0ACME00")


@pytest.mark.parametrize("known", [ACCOUNT, frozenset[str]()])
def test_gofer_is_recognised_among_several_authorizations(known: frozenset[str]) -> None:
    text = "<@U0GOFER0> look"
    assert event("message", known, authorizations=[INSTALLER, BOT], text=text).kind == "slack.mention"
    verdict = delivered("message", known, authorizations=[INSTALLER, BOT], user="U0GOFER0")
    assert isinstance(verdict, Ignored)
    assert verdict.code == "own_act"


def test_unknown_own_account_leaves_mentions_and_direct_messages() -> None:
    alone: dict[str, object] = {"authorizations": [INSTALLER]}
    assert event("app_mention", **alone).actor == Actor("U0NEWCO0")
    assert event("direct", **alone).kind == "slack.direct"
    for name in ("message", "reaction", "member_joined"):
        verdict = delivered(name, **alone)
        assert isinstance(verdict, Ignored)
        assert (verdict.code, "SLACK_TEAM_ID" in verdict.reason) == ("own_account_unknown", True)


def test_own_post_is_recognised_by_its_app_when_the_account_is_unknown() -> None:
    own: dict[str, object] = {"user": "U0GOFER0", "bot_id": "B0GOFER0", "app_id": "A0GOFER0", "authorizations": []}
    for name in ("app_mention", "direct"):
        verdict = delivered(name, **own)
        assert isinstance(verdict, Ignored)
        assert verdict.code == "own_act"


@pytest.mark.parametrize(
    ("authorization", "context", "team"),
    [
        (BOT, None, "T0ACME00"),
        ({**BOT, "team_id": None, "enterprise_id": "E0ACME00", "is_enterprise_install": True}, "T0ACME00", "T0ACME00"),
        ({**BOT, "team_id": "E0ACME00", "is_enterprise_install": True}, "E0ACME00", "T0OTHER0"),
        ({}, None, "T0OTHER0"),
    ],
)
def test_workspace_is_the_one_in_which_gofer_acts(authorization: object, context: object, team: str) -> None:
    said = event("app_mention", team_id="T0OTHER0", authorizations=[authorization], context_team_id=context)
    assert said.place["team"] == team
    # The known account of the token counts before the envelope, which may name another installation of the app.
    known = event("app_mention", ACCOUNT, team_id="T0OTHER0", authorizations=[{**BOT, "team_id": "T0OTHER0"}])
    assert known.place["team"] == "T0ACME00"


ANOTHER = ["<@U0RASHA0>", "<@U0RASHA0|rasha>", "<@W0RASHA0>", "<!subteam^S0DEVS00|@devs>", "<!here>", "<!channel|@c>"]


@pytest.mark.parametrize("another", ANOTHER)
@pytest.mark.parametrize("before", ["", " \n", "*", ":wave: ", ":wave::skin-tone-2: _"])
def test_message_that_begins_with_a_mention_of_another_is_no_follow_up(another: str, before: str) -> None:
    assert event("message", text=f"{before}{another} can you check?").facts["followed"] is False


@pytest.mark.parametrize("another", ANOTHER)
@pytest.mark.parametrize("text", ["is {} right?", "<https://acme.example|log> {}", "<#C0GENERA0> {}", "then? cc {}"])
def test_message_that_only_names_another_may_follow(another: str, text: str) -> None:
    assert "followed" not in event("message", text=text.format(another)).facts


def test_message_to_another_that_mentions_gofer_too_is_a_mention() -> None:
    said = event("message", text="<@U0RASHA0> <@U0GOFER0> can you check?")
    assert (said.kind, "followed" in said.facts) == ("slack.mention", False)
    # In a direct message there is nobody else.
    assert "followed" not in event("direct", text="<@U0RASHA0> is who?").facts


def test_praise_of_another_person_is_no_feedback_on_an_answer() -> None:
    raw = json.loads((EVENTS / "slack_message.json").read_text())
    for text, is_feedback in ((":+1: <@U0RASHA0> thanks", False), (":+1: thanks, cc <@U0RASHA0>", True)):
        raw["event"]["text"] = text
        verdict = SlackReceiver(()).translate(RawRequest("POST", "/slack/events", (), json.dumps(raw).encode()))
        assert isinstance(verdict, PossibleFeedback) is is_feedback


@pytest.mark.parametrize("subtype", [*SUBTYPES.members, "never_seen"])
@pytest.mark.parametrize("name", ["message", "app_mention"])
def test_each_published_subtype_starts_a_run_or_has_a_reason(name: str, subtype: str) -> None:
    verdict = delivered(name, subtype=subtype)
    if SUBTYPES.reader(subtype) is not None:
        assert isinstance(verdict, Event)
        return
    assert isinstance(verdict, Ignored)
    is_change = name == "message" and subtype in ("message_changed", "message_deleted")
    assert (SUBTYPES.named(subtype) in verdict.reason) is not is_change


@pytest.mark.parametrize(
    ("author", "decided"),
    [
        ({"user": "USLACKBOT"}, "other_bot"),
        ({"user": "UREVOKEDU", "subtype": "ekm_access_denied"}, "not_a_new_message"),
        ({"user": None}, "incomplete"),
        ({"user": "", "username": "An old integration"}, "incomplete"),
        (
            {"user": None, "subtype": "bot_message", "bot_id": "B0FLOW00", "app_id": "A0FLOW00"},
            Actor("B0FLOW00", "bot"),
        ),
        (
            {"user": "U0FLOW00", "bot_id": "B0FLOW00", "bot_profile": {"name": "Flow"}},
            Actor("U0FLOW00", "bot"),
        ),
        ({"user": "W0NEWCO0"}, Actor("W0NEWCO0")),
    ],
)
@pytest.mark.parametrize("name", ["message", "app_mention", "direct"])
def test_author_of_any_kind_is_decided(name: str, author: Mapping[str, object], decided: object) -> None:
    verdict = delivered(name, **author)
    if isinstance(verdict, Ignored):
        assert verdict.code == decided
    else:
        assert verdict.actor == decided


@given(st.text("<>@!:*_~ \nU0|", max_size=400))
def test_any_text_is_a_message(text: str) -> None:
    assert event("message", text=text).kind == "slack.message"
