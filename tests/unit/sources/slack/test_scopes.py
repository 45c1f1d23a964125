"""Slack tools with exactly their declared scopes, in a simulated Slack that allows no others."""

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
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel
from support.http import loopback
from support.tools.calls import any_call

GROUP = "C0GROUP00"
"""A direct message of several people."""
CHANNELS = {"deploys": "C0DEPLOY0", "leads": "C0LEADS00", "group": GROUP}
NAMES = [tool.name for tool in bind_all(SLACK_TOOLS, SlackApi("", Secret(""))) if not tool.internal]


async def use(name: str, channel: str, without: str = "") -> frozenset[str]:
    """Use every path of a tool and return the scopes it needed. Raises ToolError when Slack refuses a call."""
    async with http_client(DIRECT) as http, loopback.client() as deliveries:
        slack = SlackSimulator(demo_world(), clock=SystemClock().now, http=deliveries)
        async with serve(slack.app) as url:
            tool = next(
                tool
                for tool in bind_all(SLACK_TOOLS, SlackApi(f"{url}/api/", Secret("xoxb-simulated")))
                if tool.name == name
            )
            members = (slack.workspace.bot.user, "U0CAPTN0", "U0ONCAL0")
            slack.workspace.put_channel(Channel(GROUP, "mpdm-captain--oncall--gofer-1", "mpim", members))
            said = await slack.say("U0CAPTN0", channel, "<@U0GOFER0> <!subteam^S0000000>")
            own = await posted(http, url, channel)
            slack.install(app(tool.target.scopes - {without}))
            place = {"channel": channel, "ts": said.ts, "thread_ts": said.ts}
            call = any_call(SharedHttp(http), key="run1/1.0", actor="U0CAPTN0", place=place, clock=SystemClock())
            ts = own if name in ("slack_update_message", "slack_delete_message") else said.ts
            for where in ({}, {"channel": f"#{slack.workspace.channel(channel).name}"}):
                if where and channel == GROUP:
                    continue
                fields = tool.arguments.model_fields
                here = {**where, "ts": ts}
                arguments = tool.parse({**ARGUMENTS[name], **{key: here[key] for key in here if key in fields}})
                await tool.act(call, arguments)
                if tool.in_doubt.look:
                    assert await tool.in_doubt.look(call, arguments)
                if tool.in_doubt.look and "thread_ts" in fields:
                    assert await tool.in_doubt.look(call, tool.parse({**ARGUMENTS[name], "thread_ts": said.ts})) is None
            if name == "slack_join_channel":
                with pytest.raises(ToolError, match=r"conversations\.join"):
                    await tool.act(call, tool.parse({"channel": "#leads"}))
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
    """Return the manifest of an app with some scopes, at least one."""
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
def test_slack_tool_uses_exactly_the_declared_scopes(name: str) -> None:
    tool = next(tool for tool in bind_all(SLACK_TOOLS, SlackApi("", Secret(""))) if tool.name == name)
    # Private channels cannot be joined.
    channels = [CHANNELS["deploys"]] if name == "slack_join_channel" else CHANNELS.values()
    used = [asyncio.run(use(name, channel)) for channel in channels]
    assert frozenset().union(*used) == tool.target.scopes


@pytest.mark.parametrize("lacked", ["mpim:history", "mpim:read"])
@pytest.mark.parametrize("channel", ["deploys", "leads"])
def test_app_without_the_scopes_of_group_direct_messages_reads_all_else(lacked: str, channel: str) -> None:
    assert lacked not in asyncio.run(use("slack_read_thread", CHANNELS[channel], without=lacked))
    with pytest.raises(ToolError, match=lacked):
        asyncio.run(use("slack_read_thread", GROUP, without=lacked))


def test_slack_tool_without_a_declared_scope_is_refused_by_name() -> None:
    with pytest.raises(ToolError, match="groups:history"):
        asyncio.run(use("slack_read_thread", CHANNELS["leads"], without="groups:history"))
    with pytest.raises(ToolError, match="reactions:write"):
        asyncio.run(use("slack_add_reaction", CHANNELS["deploys"], without="reactions:write"))
