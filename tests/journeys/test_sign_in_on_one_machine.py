"""The pages of `gofer serve` behind the sign-in with Slack, through a proxy that terminates TLS."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from support.app.serve_process import OperatorFolder, Running, free_port, operator_folder
from support.http import loopback
from support.models.reviewing import is_review, review

pytestmark = pytest.mark.anyio
PAGES = "https://gofer.acme.test"
CAPTAIN, ONCALL = "U0CAPTN0", "U0ONCAL0"
LEADS = "C0LEADS00"
"""A private channel. The captain is in it, and the engineer on call is not."""
SOCKET = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}


class TlsProxy(httpx2.AsyncBaseTransport):
    """A proxy in front of Gofer: it terminates TLS, keeps `Host`, and passes on headers that a visitor made up."""

    def __init__(self, gofer: str, sender: httpx2.AsyncHTTPTransport) -> None:
        self._place = urlsplit(gofer)
        self._sender = sender

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url.copy_with(scheme="http", host=self._place.hostname, port=self._place.port)
        forged = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", "X-Forwarded-For": "127.0.0.1"}
        headers = {**request.headers, **forged, "Forwarded": "host=evil.example"}
        return await self._sender.handle_async_request(
            httpx2.Request(request.method, url, headers=headers, stream=request.stream)
        )


@dataclass
class Company:
    """A Gofer that serves its pages to people who sign in."""

    made: OperatorFolder
    running: Running
    gofer: str

    @asynccontextmanager
    async def stranger(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Yield the browser of a person who did not sign in."""
        async with httpx2.AsyncHTTPTransport(trust_env=False) as sender:
            transport = TlsProxy(self.gofer, sender)
            async with httpx2.AsyncClient(transport=transport, base_url=PAGES, trust_env=False) as browser:
                yield browser

    @asynccontextmanager
    async def signed_in(self, user: str) -> AsyncIterator[httpx2.AsyncClient]:
        """Yield the browser of a member who signed in."""
        async with self.stranger() as browser, loopback.client() as http:
            begun = await browser.get("/sign-in?to=/runs")
            agreed = await http.get(f"{begun.headers['location']}&as={user}")
            answer = await browser.get(agreed.headers["location"])
            assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
            yield browser


@asynccontextmanager
async def signing_in(folder: Path, **values: str) -> AsyncIterator[Company]:
    async with operator_folder(folder) as made:
        manifest = yaml.safe_load(made.manifest("--socket", "--url", PAGES, "--sign-in"))
        made.slack.install(manifest)
        openid = made.slack.openid
        openid.redirect_urls.update(manifest["oauth_config"]["redirect_urls"])
        app = {"SLACK_CLIENT_ID": openid.client_id, "SLACK_CLIENT_SECRET": openid.client_secret}
        made.write_env(**SOCKET, **app, GOFER_URL=PAGES, **values)
        port = free_port()
        running = await made.start("serve", "--port", str(port), "--host", "0.0.0.0")
        await running.says("Network")
        yield Company(made, running, f"http://127.0.0.1:{port}")
        assert await running.stop() == 0


async def test_stranger_is_sent_to_sign_in_and_a_member_sees_runs(tmp_path: Path) -> None:
    async with signing_in(tmp_path) as company:
        async with company.stranger() as browser:
            away = await browser.get("/runs")
            program = await browser.get("/runs", headers={"Accept": "application/json"})
            begun = await browser.get("/sign-in?to=/runs")
            ready = await browser.get("/readyz")
        answer = await company.made.answer(await company.made.ask("@Gofer hello"))
        (run,) = re.findall(f"{PAGES}/runs/([0-9a-f]+)", str(answer.blocks))
        async with company.signed_in(ONCALL) as browser:
            listed = await browser.get("/runs")
            page = await browser.get(f"/runs/{run}")
            token = re.findall('name="token" value="([^"]+)"', listed.text)[0]
            left = await browser.post("/sign-out", content=f"token={token}", headers={"Origin": PAGES})
            again = await browser.get("/runs")
    assert (away.status_code, away.headers["location"]) == (303, "/sign-in?to=%2Fruns")
    assert program.status_code == 401
    callback = parse_qs(urlsplit(begun.headers["location"]).query)["redirect_uri"]
    # What a visitor writes into forwarding headers has no effect on links.
    assert callback == [f"{PAGES}/sign-in/callback"]
    assert "evil.example" not in str(begun.headers)
    assert all("Secure" in cookie and "HttpOnly" in cookie for cookie in begun.headers.get_list("set-cookie"))
    assert ready.status_code == 200
    assert (listed.status_code, page.status_code) == (200, 200)
    assert run[:8] in listed.text
    assert (left.status_code, again.status_code) == (200, 303)
    said = "\n".join(company.running.lines)
    assert "Sign-in     members of the Slack workspace open the pages" in said
    assert "0.0.0.0: other machines can reach the receivers and the sign-in" in said


async def test_private_run_is_shown_to_members_of_its_channel_only(tmp_path: Path) -> None:
    asked_model, go_on = asyncio.Event(), asyncio.Event()

    async def answer(request: Request) -> Response:
        if is_review(await request.body()):
            return review()
        asked_model.set()
        await go_on.wait()
        message = {"role": "assistant", "content": "Said at last."}
        return JSONResponse({"model": "m", "choices": [{"message": message}], "usage": {}})

    model = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(model) as url, signing_in(tmp_path, OPENAI_BASE_URL=f"{url}/v1") as company:
        asked = await company.made.ask("@Gofer hello", LEADS)
        await asyncio.wait_for(asked_model.wait(), 60)
        whispered = [each.text for each in company.made.slack.workspace.whispers if each.only_for == CAPTAIN]
        (run,) = re.findall(f"{PAGES}/runs/([0-9a-f]+)", str(whispered))
        async with company.signed_in(CAPTAIN) as browser:
            member = await browser.get(f"/runs/{run}")
            listed = await browser.get("/runs")
        async with company.signed_in(ONCALL) as browser:
            other = await browser.get(f"/runs/{run}")
        go_on.set()
        await company.made.answer(asked)
        async with company.signed_in(CAPTAIN) as browser:
            ended = await browser.get(f"/runs/{run}")
    assert member.status_code == 200
    assert run[:8] not in listed.text
    assert (other.status_code, ended.status_code) == (404, 404)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"SLACK_CLIENT_ID": "1.2"}, "Sign-in needs SLACK_CLIENT_SECRET and GOFER_URL; write them into .env"),
        (
            {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "s", "GOFER_URL": "http://gofer.acme.test"},
            "Sign-in needs an https address in GOFER_URL",
        ),
    ],
)
async def test_half_of_a_sign_in_is_no_start(values: dict[str, str], sentence: str, tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        made.write_env(**SOCKET, **values)
        running = await made.start("serve", "--port", "0")
        assert await running.ends() == 2
    assert sentence in running.lines[-1]
