"""World files of the simulated Slack: loaded, or refused at the wrong place."""

import asyncio

import pytest

from gofer.values.errors import ConfigError
from gofer.values.model_script import choose
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.json_values import is_object
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback

NOW = 1_763_709_120.0


def simulated(slack: object) -> SlackSimulator:
    async def load() -> SlackSimulator:
        async with loopback.client() as http:
            return SlackSimulator({"slack": slack}, clock=lambda: NOW, http=http)

    return asyncio.run(load())


def world(**changed: object) -> dict[str, object]:
    base: dict[str, object] = {
        "team": {"id": "T1", "domain": "acme", "name": "Acme"},
        "app": {"id": "A1"},
        "bot": {"user": "UBOT", "bot_id": "BBOT", "name": "Gofer"},
        "users": [{"id": "U1", "name": "On-call"}],
        "channels": [{"id": "C1", "name": "deploys", "members": ["U1"]}],
    }
    return base | changed


def message(**changed: object) -> list[dict[str, object]]:
    base: dict[str, object] = {"channel": "deploys", "user": "U1", "text": "hi", "minutes_ago": 2}
    return [base | changed]


def test_simulated_slack_world_counts_minutes_ago_and_gives_each_message_a_ts() -> None:
    replies = [{"user": "U1", "text": "now", "minutes_ago": 0}]
    workspace = simulated(world(messages=message(replies=replies) + message())).workspace
    assert [one.ts for one in workspace.all_messages()] == [
        "1763709000.000000",
        "1763709000.000100",
        "1763709120.000000",
    ]
    assert workspace.next_ts() == "1763709120.000100"


@pytest.mark.parametrize(
    ("slack", "expected"),
    [
        (None, "slack: it must be a mapping"),
        (world(team={"id": "T1", "domain": "a"}), "slack.team.name: it must be a text"),
        (world(emojis=[]), "slack: it has the unknown key 'emojis'"),
        (
            world(users=[{"id": "U1", "name": "a"}, {"id": "U1", "name": "b"}]),
            "slack.users[1]: it has the id U1",
        ),
        (world(channels=[{"id": "C1", "name": "a", "members": ["U7"]}]), "it has the member 'U7'"),
        (
            world(channels=[{"id": "C1", "name": "a", "members": "U1"}]),
            "channels[0].members: it must be a list",
        ),
        (world(channels=[{"id": "C1", "name": "a", "private": "no"}]), "private: it must be true or false"),
        (world(messages=message(channel="nowhere")), "the channel 'nowhere', which this world does not have"),
        (world(messages=message(user="U7")), "messages[0]: it is by 'U7'"),
        (world(messages=message(minutes_ago="two")), "messages[0].minutes_ago: it must be a number"),
        (world(messages=message(ts="yesterday")), "it has the ts 'yesterday'"),
        (world(messages=message(reactions={"eyes": ["U7"]})), "messages[0].reactions.eyes: it names 'U7'"),
        (
            world(messages=message(replies=[{"user": "U1", "text": "a", "minutes_ago": 3}])),
            "replies[0]: it is a reply older than the message it answers",
        ),
    ],
)
def test_simulated_slack_world_with_a_mistake_is_refused_at_the_place(slack: object, expected: str) -> None:
    with pytest.raises(ConfigError) as refused:
        simulated(slack)
    assert expected in str(refused.value)


def test_demo_world_and_demo_script_match() -> None:
    demo: object = demo_world()
    scripts = demo_scripts()
    assert is_object(demo)
    simulator = simulated(demo["slack"])
    workspace = simulator.workspace
    incident = workspace.timeline("C0INCID00")[0]
    assert len(workspace.replies(incident)) == 5
    question = f"@Gofer does what was decided in {workspace.permalink(incident)} block this deploy?"
    messages: list[object] = [{"role": "user", "content": f"> {simulator.typed(question)}"}]
    tools = [{"type": "function", "function": {"name": "slack_read_thread"}}]
    asked = choose(scripts, {"messages": messages, "tools": tools})
    assert [call.arguments for call in asked.calls] == [{"link": workspace.permalink(incident)}]
    read = {"role": "tool", "content": "\n".join(one.text for one in workspace.replies(incident))}
    answered = choose(scripts, {"messages": [*messages, {"role": "assistant"}, read], "tools": tools})
    assert "one hour on staging" in answered.text
    assert "Checkout Owner" in answered.text
    plain = [{"role": "user", "content": "> @Gofer hello"}]
    assert choose(scripts, {"messages": plain}).script == "hello"
