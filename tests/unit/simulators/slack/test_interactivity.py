"""Presses, shortcuts and ephemeral messages in the simulated Slack, as payloads that the app receives."""

from collections.abc import Mapping

import pytest

from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.slack.interactivity import press_payload, shortcut_payload
from gofer_simulators.slack.workspace import Message, SlackRefusal
from support.vendors.slack_web_api import ROOT, Slack, play
from unit.simulators.slack.test_block_forms import (
    actions,
    button,
    card,
    container,
    context_actions,
    feedback,
    menu,
    options,
    section,
    vote,
    words,
)
from unit.simulators.slack.test_manifest import changed

SHORTCUT = {"name": "Ask", "callback_id": "ask", "description": "Ask about this", "type": "message"}
COMMANDS = ["app_mentions:read", "assistant:write", "chat:write", "commands", "im:history"]


async def posted(slack: Slack, *blocks: Mapping[str, object]) -> Message:
    answer = await slack.call("chat.postMessage", channel="C1", text="x", blocks=blocks)
    return slack.simulator.workspace.message("C1", str(answer["ts"]))


def pressed(slack: Slack, message: Message, action_id: str, value: str = "") -> JsonObject:
    payload = press_payload(slack.simulator.workspace, message, action_id, "U1", value)
    assert payload["type"] == "block_actions"
    (action,) = objects(payload["actions"])
    assert action.pop("action_ts")
    assert action.pop("block_id")
    return action


def test_feedback_press_has_the_value_and_the_text_of_one_vote() -> None:
    async def story(slack: Slack) -> None:
        message = await posted(slack, context_actions(feedback()))
        assert pressed(slack, message, "vote", "down") == {
            "type": "feedback_buttons",
            "action_id": "vote",
            "value": "down",
            "text": object_of(vote(), "text"),
        }
        with pytest.raises(SlackRefusal, match="action_not_found"):
            pressed(slack, message, "vote", "sideways")

    play(story)


def test_elements_of_sections_cards_and_containers_are_pressed() -> None:
    async def story(slack: Slack) -> None:
        accessory = section(text=words("x"), accessory=menu(options=options(2)))
        inside = container(actions(button(action_id="inside", value="1")))
        message = await posted(slack, accessory, card(actions=[button(action_id="card")]), inside)
        assert pressed(slack, message, "menu", "1")["selected_option"] == options(2)[1]
        assert pressed(slack, message, "card")["type"] == "button"
        assert pressed(slack, message, "inside")["value"] == "1"
        people = await posted(slack, actions(menu("users_select")))
        assert pressed(slack, people, "menu", "U2")["selected_user"] == "U2"

    play(story)


def test_message_shortcut_carries_the_message_and_a_global_one_does_not() -> None:
    async def story(slack: Slack) -> None:
        workspace = slack.simulator.workspace
        slack.simulator.install(changed(features__shortcuts=[SHORTCUT], oauth_config__scopes__bot=COMMANDS))
        payload = shortcut_payload(workspace, "ask", "U1", workspace.message("C1", ROOT))
        assert (payload["type"], payload["callback_id"], payload["message_ts"]) == ("message_action", "ask", ROOT)
        assert text_of(object_of(payload, "message"), "text") == "First & foremost"
        assert object_of(payload, "channel") == {"id": "C1", "name": "deploys"}
        assert shortcut_payload(workspace, "ask", "U1", None).keys() & {"message", "channel", "response_url"} == set()
        with pytest.raises(SlackRefusal, match="shortcut_not_found"):
            shortcut_payload(workspace, "other", "U1", None)

    play(story)


def test_app_without_interactivity_gets_no_press() -> None:
    async def story(slack: Slack) -> None:
        slack.simulator.subscribe("http://127.0.0.1:9/slack/events")
        slack.simulator.install(changed(settings__interactivity={"is_enabled": False}))
        message = await posted(slack, actions(button()))
        assert not await slack.simulator.press(message, "go", "U1")

    play(story)


def test_ephemeral_message_is_for_members_and_cannot_be_changed() -> None:
    async def story(slack: Slack) -> None:
        post = "chat.postEphemeral"
        assert await slack.error(post, channel="C1", user="U3", text="x") == "user_not_in_channel"
        answer = await slack.call(post, channel="C1", user="U1", text="x", blocks=[actions(button())])
        place = {"channel": "C1", "ts": answer["message_ts"]}
        assert await slack.error("chat.update", **place, text="y") == "message_not_found"
        assert await slack.error("chat.delete", **place) == "message_not_found"
        (whisper,) = slack.simulator.whispers("U1")
        payload = press_payload(slack.simulator.workspace, whisper, "go", "U1")
        assert object_of(payload, "container")["is_ephemeral"] is True
        assert "message" not in payload
        with pytest.raises(SlackRefusal, match="message_not_found"):
            press_payload(slack.simulator.workspace, whisper, "go", "U2")
        with pytest.raises(SlackRefusal, match="shortcut_not_found"):
            shortcut_payload(slack.simulator.workspace, "ask", "U1", whisper)
        slack.simulator.restart_program("U1")
        assert slack.simulator.whispers("U1") == []

    play(story)
