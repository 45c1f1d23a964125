"""A company whose machines reach the internet through a proxy: models, tools and Slack's socket go through it."""

from pathlib import Path

import pytest

from gofer.app.http import SharedHttp, http_client
from gofer.app.settings import read_settings
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest
from support.app.serve_process import operator_folder
from support.http.proxy import proxy

pytestmark = pytest.mark.anyio
TOKENS = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}


async def test_models_tools_and_the_socket_of_slack_go_through_the_proxy(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        slack, model = made.api.removesuffix("/api"), made.model.removesuffix("/v1")
        async with proxy({"slack.example": slack, "llm.example": model}) as through:
            made.write_env(
                **TOKENS,
                SLACK_API_URL="http://slack.example/api",
                OPENAI_BASE_URL="http://llm.example/v1",
                HTTP_PROXY=through.url,
                NO_PROXY="other.example",
            )
            running = await made.start("serve", "--port", "0")
            await running.says("/runs")
            answer = await made.answer(await made.ask("@Gofer hello"))
            assert await running.stop() == 0
    assert "Hello" in answer.text
    paths = {line.split("?")[0] for line in through.requested}
    assert "POST http://slack.example/api/chat.postMessage" in paths
    assert "POST http://llm.example/v1/chat/completions" in paths
    assert "GET ws://slack.example/link/" in paths


async def test_download_through_a_proxy_names_the_checked_address_and_not_the_host() -> None:
    async def addresses(host: str, port: int) -> list[str]:
        return ["203.0.113.7"]

    async with proxy({}) as through:
        settings = read_settings({"HTTPS_PROXY": through.url})
        async with http_client(settings.proxies, addresses, is_public=lambda _: True) as client:
            http = SharedHttp(client)
            with pytest.raises(TemporaryError, match="the proxy did not pass the request on"):
                await http.send(HttpRequest("GET", "https://files.example/a", {}, timeout=5, public_only=True))
            with pytest.raises(TemporaryError, match="the proxy did not pass the request on"):
                await http.send(HttpRequest("GET", "https://api.example/b", {}, timeout=5))
    assert through.requested == ["CONNECT 203.0.113.7:443", "CONNECT api.example:443"]
