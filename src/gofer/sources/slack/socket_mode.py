"""Socket Mode: Slack's deliveries through a socket that Gofer opens. This is the only module that uses Bolt.

Bolt requests connections, reopens them and acknowledges envelopes. The receivers for HTTP deliveries also translate the
envelopes. Gofer acknowledges an envelope after its claim is stored. If the claim cannot be stored, Gofer does not
acknowledge the envelope, and Slack delivers it again.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator
from functools import partial
from typing import cast

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from gofer.sources.receiver import RawRequest
from gofer.sources.serving import Receive
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.interactivity import PATH, InteractivityReceiver
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.slack.settings import API_URL, APP_TOKEN, BOT_TOKEN, TEAM_IDS
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.proxies import DIRECT, Proxies
from gofer.values.supervisor import Supervisor

PATIENCE = 30.0
"""The longest time for the first connection, in seconds."""
PING = 10.0
"""Seconds between two checks of a connection. A connection that is silent for four times as long is reopened."""

_log = logging.getLogger(__name__)
_bolt_log = logging.getLogger("slack_bolt")
"""The logger for Bolt. It has the library's name, because Gofer treats log lines of libraries as possible contents."""


@contextlib.asynccontextmanager
async def connected(
    settings: SourceSettings,
    receive: Receive,
    supervisor: Supervisor,
    proxies: Proxies = DIRECT,
    ping: float = PING,
) -> AsyncGenerator[None]:
    """Pass Slack's deliveries to `receive` while the block runs. Raises ConfigError, TemporaryError."""
    client = AsyncWebClient(settings[BOT_TOKEN].reveal(), settings[API_URL])
    app = AsyncApp(
        # Bolt also uses this name for a logger.
        name="slack_bolt",
        logger=_bolt_log,
        client=client,
        signing_secret="",
        before_authorize=_Intake(receive, settings).take,
        request_verification_enabled=False,
        ssl_check_enabled=False,
    )
    handler = AsyncSocketModeHandler(app, settings[APP_TOKEN].reveal(), ping_interval=ping)
    # The library would read the environment, and knows no NO_PROXY. Slack's socket is at a subdomain of its API.
    client.proxy = handler.client.proxy = proxies.of(settings[API_URL]).reveal() or None
    try:
        async with supervisor.serving({"connection to Slack": partial(_renew_url, handler, 3 * ping)}):
            await _connect(handler)
            yield
    finally:
        await handler.close_async()


class _Intake:
    """The Bolt middleware that handles every envelope. None of Bolt's own steps follows."""

    def __init__(self, receive: Receive, settings: SourceSettings) -> None:
        self._receive = receive
        # These receivers verify nothing, because the app's token already authenticates the socket.
        self._events = SlackReceiver((), settings[TEAM_IDS])
        self._actions = InteractivityReceiver((), settings[TEAM_IDS])

    async def take(self, req: AsyncBoltRequest) -> BoltResponse:
        """Return 200 to acknowledge the envelope; any other status leaves it unacknowledged."""
        events = req.body.get("type") in ("event_callback", "url_verification")
        path, receiver = ("/slack/events", self._events) if events else (PATH, self._actions)
        delivery = RawRequest("POST", path, (), json.dumps(req.body).encode())
        reply = await self._receive(receiver, delivery)
        # Only a delivery that could not be stored is worth repeating. An invalid one would be invalid again.
        return BoltResponse(status=503 if reply.status >= 500 else 200)


async def _connect(handler: AsyncSocketModeHandler) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            # Request the URL here, because `connect_async` retries forever, even when Slack rejects the token.
            handler.client.wss_uri = await handler.client.issue_new_wss_url()
            await handler.connect_async()
    except SlackApiError as error:
        raise ConfigError(_refused(as_text(as_object(cast(object, error.response.data)).get("error")))) from error
    except (TimeoutError, aiohttp.ClientError) as error:
        raise TemporaryError("Slack did not open a Socket Mode connection; try again in a minute.") from error


async def _renew_url(handler: AsyncSocketModeHandler, every: float) -> None:
    """Request a new URL while there is no connection. A URL is valid once, and the library would retry the same URL."""
    while True:
        await asyncio.sleep(every)
        if handler.client.wss_uri and not await handler.client.is_connected():
            _log.warning("Socket Mode is not connected; Gofer requests a new connection")
            with contextlib.suppress(SlackApiError, TimeoutError, aiohttp.ClientError):
                handler.client.wss_uri = await handler.client.issue_new_wss_url()


def _refused(code: str) -> str:
    return (
        f"Slack does not accept SLACK_APP_TOKEN ({code}); create an app-level token with the scope connections:write "
        "under Basic Information, App-Level Tokens, and turn Socket Mode on."
    )
