"""The Home tab in the simulated Slack: publishing, opening, and presses in it."""

import pytest

from gofer_simulators.json_values import object_of, objects
from gofer_simulators.slack.envelopes import home_envelopes
from gofer_simulators.slack.interactivity import home_press_payload
from gofer_simulators.slack.workspace import SlackRefusal
from support.vendors.slack_web_api import Slack, play
from unit.simulators.slack.test_block_forms import actions, button, plan, section, task, words
from unit.simulators.slack.test_manifest import changed

PUBLISH = "views.publish"
VIEW = {"type": "home", "blocks": [section(text=words("My runs")), actions(button())]}


def test_home_is_published_for_one_person_and_shown_when_opened() -> None:
    async def story(slack: Slack) -> None:
        view = object_of(await slack.call(PUBLISH, user_id="U1", view=VIEW), "view")
        workspace = slack.simulator.workspace
        (opened,) = home_envelopes(workspace, "U1", "home")
        event = object_of(opened, "event")
        assert (event["type"], event["tab"], event["view"]) == ("app_home_opened", "home", view)
        (other,) = home_envelopes(workspace, "U2", "home")
        assert "view" not in object_of(other, "event")
        payload = home_press_payload(workspace, "go", "U1")
        assert object_of(payload, "container") == {"type": "view", "view_id": view["id"]}
        assert payload.keys() & {"message", "channel", "response_url"} == set()
        assert [action["action_id"] for action in objects(payload["actions"])] == ["go"]

    play(story)


def test_newer_view_refuses_an_older_hash() -> None:
    async def story(slack: Slack) -> None:
        first = object_of(await slack.call(PUBLISH, user_id="U1", view=VIEW), "view")["hash"]
        second = object_of(await slack.call(PUBLISH, user_id="U1", view=VIEW, hash=first), "view")["hash"]
        assert await slack.error(PUBLISH, user_id="U1", view=VIEW, hash=first) == "hash_conflict"
        assert (await slack.call(PUBLISH, user_id="U1", view=VIEW, hash=second))["ok"] is True

    play(story)


@pytest.mark.parametrize(
    "view",
    [
        {"type": "modal", "blocks": []},
        {"type": "home"},
        {"type": "home", "blocks": [{"type": "divider"}] * 101},
        {"type": "home", "blocks": [plan(task())]},
        {"type": "home", "blocks": [], "callback_id": "x" * 256},
        {"type": "home", "blocks": [], "private_metadata": "x" * 3_001},
        {"type": "home", "blocks": [], "title": "x"},
        "home",
    ],
)
def test_views_of_a_wrong_form_are_refused(view: object) -> None:
    async def story(slack: Slack) -> None:
        assert await slack.error(PUBLISH, user_id="U1", view=view) == "invalid_arguments"
        assert await slack.error(PUBLISH, user_id="U9", view=VIEW) == "invalid_arguments"

    play(story)


def test_home_and_messages_tab_open_only_with_a_manifest_for_both() -> None:
    async def story(slack: Slack) -> None:
        await slack.simulator.open_home("U1")
        slack.simulator.install(changed())
        assert await slack.error(PUBLISH, user_id="U1", view=VIEW) == "not_enabled"
        await slack.simulator.open_home("U1", "messages")
        with pytest.raises(SlackRefusal, match="not_enabled"):
            await slack.simulator.open_home("U1")

    play(story)


def test_large_view_is_refused() -> None:
    many = [section(text=words("x" * 3_000), block_id=str(number)) for number in range(90)]

    async def story(slack: Slack) -> None:
        assert await slack.error(PUBLISH, user_id="U1", view={"type": "home", "blocks": many}) == "view_too_large"

    play(story)
