"""Socket Mode of the simulated Slack: tickets, hello, envelopes, acknowledgements and redelivery."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from gofer.app.embedded.server import serve
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback

pytestmark = pytest.mark.anyio
APP = {"Authorization": "Bearer xapp-simulated"}


@asynccontextmanager
async def slack(answer_within: float = 5) -> AsyncIterator[tuple[SlackSimulator, str, aiohttp.ClientSession]]:
    async with loopback.client() as http, aiohttp.ClientSession() as client:
        pace = Pace(gap_factor=0, answer_within=answer_within)
        simulator = SlackSimulator(demo_world(), clock=SystemClock().now, http=http, pace=pace)
        async with serve(simulator.app, websockets=True) as url:
            yield simulator, url, client
            await simulator.close()


async def opened(client: aiohttp.ClientSession, url: str, headers: dict[str, str] = APP) -> dict:
    async with client.post(f"{url}/api/apps.connections.open", headers=headers) as response:
        return await response.json()


async def linked(client: aiohttp.ClientSession, url: str) -> aiohttp.ClientWebSocketResponse:
    """Return a connection that has received its hello."""
    link = await client.ws_connect((await opened(client, url))["url"])
    assert (await link.receive_json())["type"] == "hello"
    return link


async def test_simulated_socket_mode_connection_begins_with_a_ticket_and_a_hello() -> None:
    async with slack() as (_, url, client):
        given = (await opened(client, url))["url"]
        assert given.startswith(url.replace("http://", "ws://") + "/link/?ticket=")
        async with client.ws_connect(given) as link:
            hello = await link.receive_json()
            assert (hello["type"], hello["num_connections"], hello["connection_info"]) == (
                "hello",
                1,
                {"app_id": "A0GOFER0"},
            )
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await client.ws_connect(given)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "not_authed"),
        ({"Authorization": "Bearer xapp-other"}, "invalid_auth"),
        ({"Authorization": "Bearer xoxb-simulated"}, "not_allowed_token_type"),
    ],
)
async def test_simulated_socket_mode_opens_only_with_the_app_token(headers: dict[str, str], code: str) -> None:
    async with slack() as (_, url, client):
        assert await opened(client, url, headers) == {"ok": False, "error": code}


async def test_simulated_socket_mode_repeats_an_envelope_until_acknowledged() -> None:
    async with slack(answer_within=0.3) as (simulator, url, client):
        link = await linked(client, url)
        said = await simulator.say("U0CAPTN0", "C0GENERA0", "no mention")
        (envelope,) = simulator.envelopes(said)
        first, second = await link.receive_json(), await link.receive_json()
        assert (first["type"], first["payload"], first["accepts_response_payload"]) == ("events_api", envelope, False)
        assert (first["retry_attempt"], second["retry_attempt"], second["retry_reason"]) == (0, 1, "timeout")
        assert first["envelope_id"] != second["envelope_id"]
        assert first["payload"] == second["payload"]
        assert simulator.sockets.acknowledged == []
        await link.send_str(json.dumps({"envelope_id": second["envelope_id"]}))
        await simulator.settled()
        assert simulator.sockets.acknowledged == [envelope["event_id"]]


async def test_simulated_socket_mode_ignores_frames_that_acknowledge_no_envelope() -> None:
    async with slack() as (simulator, url, client):
        link = await linked(client, url)
        await simulator.say("U0CAPTN0", "C0GENERA0", "no mention")
        frame = await link.receive_json()
        for noise in ({}, [], {"envelope_id": "another"}):
            await link.send_str(json.dumps(noise))
        await link.send_str(json.dumps({"envelope_id": frame["envelope_id"]}))
        await simulator.settled()
        assert len(simulator.sockets.acknowledged) == 1


async def test_simulated_socket_mode_alternates_connections_and_announces_a_disconnect() -> None:
    async with slack() as (simulator, url, client):
        links = [await linked(client, url) for _ in range(2)]
        heard: list[int] = []
        for _ in range(2):
            await simulator.say("U0CAPTN0", "C0GENERA0", "no mention")
            tasks = [asyncio.create_task(link.receive_json()) for link in links]
            done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            (one,) = done
            heard.append(tasks.index(one))
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await links[heard[-1]].send_str(json.dumps({"envelope_id": one.result()["envelope_id"]}))
            await simulator.settled()
        assert sorted(heard) == [0, 1]
        await simulator.sockets.disconnect("refresh_requested")
        for link in links:
            frame = await link.receive_json()
            assert (frame["type"], frame["reason"]) == ("disconnect", "refresh_requested")


async def test_simulated_socket_mode_sends_only_subscribed_events() -> None:
    manifest = {
        "display_information": {"name": "Gofer"},
        "features": {"bot_user": {"display_name": "Gofer"}},
        "oauth_config": {"scopes": {"bot": ["app_mentions:read"]}},
        "settings": {"event_subscriptions": {"bot_events": ["app_mention"]}, "socket_mode_enabled": True},
    }
    async with slack() as (simulator, url, client):
        simulator.install(manifest)
        link = await linked(client, url)
        await simulator.say("U0CAPTN0", "C0GENERA0", "no mention")
        await simulator.say("U0CAPTN0", "C0GENERA0", "<@U0GOFER0> a mention")
        frame = await link.receive_json()
        assert frame["payload"]["event"]["type"] == "app_mention"
        await link.send_str(json.dumps({"envelope_id": frame["envelope_id"]}))
        await simulator.settled()
        assert len(simulator.sockets.acknowledged) == 1
