"""Each tool gets on with the scopes it declares: in a simulated Slack that allows nothing else."""

import asyncio
from collections.abc import Mapping

import httpx2
import pytest

from gofer.app.embedded.server import serve
from gofer.app.http import SharedHttp, http_client
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.tools.declare import bind_all
from gofer.values.errors import ToolError
from gofer.values.outside import SystemClock
from gofer.values.secret import Secret
from gofer_simulators.demo import demo_world
from gofer_simulators.slack import SlackSimulator
from support.http import loopback
from support.tools.calls import any_call

CHANNELS = {"deploys": "C0DEPLOY0", "leads": "C0LEADS00"}
NAMES = [tool.name for tool in bind_all(SLACK_TOOLS, SlackApi("", Secret(""))) if not tool.internal]


async def use(name: str, channel: str, without: str = "") -> frozenset[str]:
    """Uses every way through a tool and gives the scopes it needed. Raises ToolError when Slack refuses something."""
    async with http_client() as http, loopback.client() as deliveries:
        slack = SlackSimulator(demo_world(), clock=SystemClock().now, http=deliveries)
        async with serve(slack.app) as url:
            tool = next(
                tool
                for tool in bind_all(SLACK_TOOLS, SlackApi(f"{url}/api/", Secret("xoxb-simulated")))
                if tool.name == name
            )
            said = await slack.say("U0CAPTN0", channel, "<@U0GOFER0> look")
            own = await posted(http, url, channel)
            slack.install(app(tool.target.scopes - {without}))
            place = {"channel": channel, "ts": said.ts, "thread_ts": said.ts}
            call = any_call(SharedHttp(http), key="run1/1.0", actor="U0CAPTN0", place=place, clock=SystemClock())
            ts = own if name in ("slack_update_message", "slack_delete_message") else said.ts
            for where in ({}, {"channel": "#deploys"}):
                if where and channel != CHANNELS["deploys"]:
                    continue
                fields = tool.arguments.model_fields
                here = {**where, "ts": ts}
                arguments = tool.parse({**ARGUMENTS[name], **{key: here[key] for key in here if key in fields}})
                await tool.act(call, arguments)
                if tool.in_doubt.look:
                    assert await tool.in_doubt.look(call, arguments)
                if tool.in_doubt.look and "thread_ts" in fields:
                    assert await tool.in_doubt.look(call, tool.parse({**ARGUMENTS[name], "thread_ts": said.ts})) is None
            return slack.scopes_used


ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "slack_read_thread": {},
    "slack_read_channel": {},
    "slack_get_user": {"name": "Release Captain"},
    "slack_get_group": {"handle": "@on-call"},
    "slack_delete_message": {},
    "slack_get_permalink": {},
    "slack_post_ephemeral": {"text": "hello"},
    "slack_post_direct": {"text": "hello"},
    "slack_join_channel": {},
    "slack_post_file": {"name": "notes.md", "text": "hello"},
    "slack_post_message": {"text": "hello"},
    "slack_update_message": {"text": "hello"},
    "slack_add_reaction": {"emoji": "eyes"},
}


def app(scopes: frozenset[str]) -> dict[str, object]:
    """The manifest of an app with some scopes, which cannot be none."""
    return {
        "display_information": {"name": "Gofer"},
        "features": {"app_home": {"messages_tab_enabled": True}, "bot_user": {"display_name": "Gofer"}},
        "oauth_config": {"scopes": {"bot": sorted(scopes | {"team:read"})}},
    }


async def posted(http: httpx2.AsyncClient, url: str, channel: str) -> str:
    headers = {"Authorization": "Bearer xoxb-simulated"}
    body = {"channel": channel, "text": "mine"}
    return str((await http.post(f"{url}/api/chat.postMessage", json=body, headers=headers)).json()["ts"])


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_gets_on_with_the_scopes_it_declares_and_needs_each_of_them(name: str) -> None:
    tool = next(tool for tool in bind_all(SLACK_TOOLS, SlackApi("", Secret(""))) if tool.name == name)
    # Nobody joins a private channel by themselves.
    channels = [CHANNELS["deploys"]] if name == "slack_join_channel" else CHANNELS.values()
    used = [asyncio.run(use(name, channel)) for channel in channels]
    assert frozenset().union(*used) == tool.target.scopes


def test_without_one_of_them_slack_refuses_and_names_it() -> None:
    with pytest.raises(ToolError, match="groups:history"):
        asyncio.run(use("slack_read_thread", CHANNELS["leads"], without="groups:history"))
    with pytest.raises(ToolError, match="reactions:write"):
        asyncio.run(use("slack_add_reaction", CHANNELS["deploys"], without="reactions:write"))
