"""The people who write in the simulated workplace."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.demo import demo_world
from gofer_simulators.speaker import Speaker


def said(words: tuple[str, ...], kinds: tuple[str, ...], world: Mapping[str, object] | None = None) -> dict[str, Any]:
    speaker = Speaker(world or {}, kinds, lambda: 1_772_442_000.0)
    return json.loads(speaker.delivery(*words))["event"]


def test_mention_has_the_ids_of_the_world() -> None:
    words = ("Look at #incidents", "#deploys", "New Colleague")
    event = said(words, ("slack.mention",), demo_world())
    assert event["type"] == "app_mention"
    assert (event["channel"], event["user"]) == ("C0DEPLOY0", "U0NEWCO0")
    assert event["text"] == "<@U0GOFER0> Look at <#C0INCID00|>"


def test_words_without_a_slack_in_the_world_make_their_own_channel_and_person() -> None:
    words = ("Hello", "#support", "guest")
    event = said(words, ("slack.message",), {"airline": {}})
    assert (event["type"], event["channel_type"], event["text"]) == ("message", "channel", "Hello")
    assert event["channel"] == said(words, ("slack.mention",))["channel"]


def test_direct_messages_go_to_gofer() -> None:
    event = said(("Hello",), ("slack.direct",), demo_world())
    assert (event["channel_type"], event["text"]) == ("im", "Hello")


def test_later_words_answer_in_the_thread_of_the_first_event() -> None:
    speaker = Speaker(demo_world(), ("slack.mention",), lambda: 1_772_442_000.0)
    place = {"team": "T", "channel": "C0DEPLOY0", "ts": "1.000000", "thread_ts": "1.000000"}
    speaker.follow("slack", place)
    event = json.loads(speaker.delivery("And now?"))["event"]
    assert (event["channel"], event["thread_ts"]) == ("C0DEPLOY0", "1.000000")


@pytest.mark.parametrize(
    ("words", "kinds", "problem"),
    [
        (("x", "#sales"), ("slack.mention",), "no channel 'sales' in Slack; it has #"),
        (("x", "", "Nobody"), ("slack.mention",), "no person 'Nobody' in Slack; it has @"),
        (("x",), ("webhook", "schedule"), "none of the triggers slack.mention"),
    ],
)
def test_names_that_the_world_lacks_are_refused(words: tuple[str, ...], kinds: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        said(words, kinds, demo_world())
