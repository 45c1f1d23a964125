"""Sign in with Slack, simulated."""

import httpx2
import pytest
from starlette.applications import Starlette

from gofer_simulators.slack.openid import OpenId
from gofer_simulators.slack.workspace import Bot, Team, Workspace

pytestmark = pytest.mark.anyio


async def published_keys() -> object:
    """Return the keys that a new provider publishes."""
    workspace = Workspace(Team("T1", "acme", "Acme"), Bot("UBOT", "BBOT", "Gofer", "A1"), lambda: 0.0)
    provider = OpenId(workspace, lambda: 0.0, "client", "secret")
    transport = httpx2.ASGITransport(Starlette(routes=provider.routes()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return (await client.get("/openid/connect/keys")).json()


async def test_sign_in_simulators_of_one_process_publish_the_same_key() -> None:
    keys = await published_keys()
    assert keys == await published_keys()
    assert "keys" in str(keys)
