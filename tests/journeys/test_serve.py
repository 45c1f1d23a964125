"""`gofer serve` and `gofer manifest` as an operator runs them: real processes against the simulated Slack."""

import asyncio
import json
import shutil
import signal
import socket
from pathlib import Path

import pytest
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from support.app.serve_process import PATIENCE, SECRET, free_port, log_lines, operator_folder
from support.http import loopback
from support.models.reviewing import is_review, review

pytestmark = pytest.mark.anyio
SOCKET = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}
HTTP = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_SIGNING_SECRET": SECRET}


async def test_mention_is_answered_through_socket_mode_with_the_scopes_of_the_manifest(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        made.slack.install(yaml.safe_load(made.manifest("--socket")))
        made.write_env(**SOCKET)
        running = await made.start("serve", "--port", "0")
        await running.says("/runs")
        answer = await made.answer(await made.ask("@Gofer hello"))
        private = await made.answer(await made.ask("@Gofer hello", "C0LEADS00"))
        assert await running.stop() == 0
    assert "Hello" in answer.text
    assert "Hello" in private.text
    said = "\n".join(running.lines)
    assert "Gofer serves the Slack workspace Acme as @gofer" in said
    assert "Socket Mode, connected" in said
    assert "answer-here" in said
    assert "lacks" not in said
    assert "Stopping; running runs have 5 seconds" in said
    # One line for the run in the public channel, none for the one in the private channel.
    (ended,) = log_lines(running)
    assert (ended["message"], ended["workflow"], ended["status"]) == ("a run ended", "answer-here", "done")
    assert set(ended) == {"at", "level", "logger", "message", "run", "workflow", "status", "seconds"}


async def test_mention_over_http_is_answered_with_links_to_the_public_address(tmp_path: Path) -> None:
    port = free_port()
    async with operator_folder(tmp_path) as made, loopback.client() as http:
        manifest = json.loads(made.manifest("--url", "https://gofer.example.com/", "--json"))
        made.slack.install(manifest)
        url = manifest["settings"]["event_subscriptions"]["request_url"]
        made.write_env(**HTTP, GOFER_URL="https://gofer.example.com", AGENT_LOG_LEVEL="minimal")
        running = await made.start("serve", "--port", str(port))
        await running.says("/runs")
        assert (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200
        made.slack.subscribe(url.replace("https://gofer.example.com", f"http://127.0.0.1:{port}"))
        answer = await made.answer(await made.ask("@Gofer hello"))
        assert await running.stop(signal.SIGINT) == 130
    assert "https://gofer.example.com/runs/" in str(answer.blocks)
    assert f"POST http://127.0.0.1:{port}/slack/events" in "\n".join(running.lines)
    (ended,) = log_lines(running)
    assert set(ended) == {"at", "level", "logger", "run", "status", "seconds"}


def own_address() -> str:
    """Return an address of this machine that is not loopback; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return probe.getsockname()[0]


async def test_other_machines_reach_the_receivers_but_not_the_pages(tmp_path: Path) -> None:
    port = free_port()
    async with operator_folder(tmp_path) as made, loopback.client() as http:
        made.write_env(**HTTP, GOFER_URL="https://gofer.example.com")
        running = await made.start("serve", "--port", str(port), "--host", "0.0.0.0")
        await running.says("Network")
        here, there = f"http://127.0.0.1:{port}", f"http://{own_address()}:{port}"
        assert (await http.get(f"{there}/healthz")).status_code == 200
        assert (await http.post(f"{there}/slack/events")).status_code == 401
        assert (await http.get(f"{here}/runs")).status_code == 200
        assert (await http.get(f"{here}/runs", headers={"Host": "gofer.example.com"})).status_code == 200
        assert (await http.get(f"{here}/runs", headers={"Host": "evil.example"})).status_code == 421
        assert await running.stop() == 0
    said = "\n".join(running.lines)
    assert "0.0.0.0: other machines can reach the receivers; only this machine can open the pages" in said
    assert f"POST http://127.0.0.1:{port}/slack/events" in said


async def test_serve_reports_an_address_that_this_machine_does_not_have(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        made.write_env(**HTTP)
        running = await made.start("serve", "--port", "0", "--host", "192.0.2.1")
        assert await running.ends() == 1
    assert "Gofer cannot listen on 192.0.2.1 port 0" in running.lines[-1]


async def test_run_under_way_is_handed_over_at_a_stop_and_answered_once_after_restart(tmp_path: Path) -> None:
    asked_model, go_on = asyncio.Event(), asyncio.Event()
    questions: list[object] = []

    async def answer(request: Request) -> Response:
        if is_review(await request.body()):
            return review()
        questions.append(await request.json())
        asked_model.set()
        await go_on.wait()
        message = {"role": "assistant", "content": "Said at last."}
        return JSONResponse({"model": "m", "choices": [{"message": message}], "usage": {}})

    model = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with operator_folder(tmp_path) as made, serve(model) as url:
        made.write_env(**SOCKET, OPENAI_BASE_URL=f"{url}/v1")
        running = await made.start("serve", "--port", "0")
        await running.says("/runs")
        asked = await made.ask("@Gofer hello")
        await asyncio.wait_for(asked_model.wait(), PATIENCE)
        running.process.terminate()
        await running.says("Stopping")
        go_on.set()
        assert await running.ends() == 0
        assert made.answers(asked)[0].edited_ts is None
        again = await made.start("serve", "--port", "0")
        await again.says("/runs")
        await made.answer(asked)
        assert await again.stop() == 0
        (said,) = made.answers(asked)
    assert said.text == "Said at last."
    # The model's answer to the first process was stored.
    assert len(questions) == 1


async def test_serve_names_the_scopes_that_the_slack_app_lacks_and_answers(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        manifest = yaml.safe_load(made.manifest("--socket"))
        # An app from before Gofer answered in group direct messages.
        for scope in ("mpim:history", "mpim:read", "reactions:write"):
            manifest["oauth_config"]["scopes"]["bot"].remove(scope)
        manifest["settings"]["event_subscriptions"]["bot_events"].remove("message.mpim")
        made.slack.install(manifest)
        made.write_env(**SOCKET)
        running = await made.start("serve", "--port", "0")
        await running.says("The Slack app lacks mpim:history, mpim:read, reactions:write")
        assert (await made.answer(await made.ask("@Gofer hello"))).text
        assert await running.stop() == 0


def write_webhook_workflow(folder: Path) -> None:
    """Replace the workflows of a folder by one that needs no Slack."""
    for name in ("agents", "coordinators", "skills", "subagents"):
        shutil.rmtree(folder / name)
    (folder / "agents").mkdir()
    (folder / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    (folder / "agents" / "greet.md").write_text("Greet the new customer.")
    text = "description: d\nowner: ada@example.com\nwhen: [{webhook: {name: greet, auth: bearer, key: /id}}]\n"
    (folder / "agents" / "greet.yaml").write_text(f"{text}reply: none\n")


async def test_webhook_is_served_without_slack(tmp_path: Path) -> None:
    port = free_port()
    async with operator_folder(tmp_path) as made, loopback.client() as http:
        write_webhook_workflow(tmp_path)
        made.write_env(WEBHOOK_SECRET=SECRET)
        running = await made.start("serve", "--port", str(port))
        await running.says("/runs")
        asked = await http.post(
            f"http://127.0.0.1:{port}/hooks/greet", json={"id": "1"}, headers={"Authorization": f"Bearer {SECRET}"}
        )
        assert asked.status_code == 200
        await running.says("a run ended")
        assert await running.stop() == 0
    assert "Gofer serves without Slack; stop with Ctrl-C." in running.lines


async def test_failure_for_an_owner_without_a_channel_is_told_to_the_webhook(tmp_path: Path) -> None:
    port = free_port()
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def hear(request: Request) -> Response:
        heard.put_nowait(await request.json())
        return Response()

    async def refuse(request: Request) -> Response:
        return JSONResponse({"error": {"message": "no such model", "code": "model_not_found"}}, 404)

    routes = [Route("/hook", hear, methods=["POST"]), Route("/v1/chat/completions", refuse, methods=["POST"])]
    async with operator_folder(tmp_path) as made, serve(Starlette(routes=routes)) as url, loopback.client() as http:
        write_webhook_workflow(tmp_path)
        made.write_env(WEBHOOK_SECRET=SECRET, OPENAI_BASE_URL=f"{url}/v1", GOFER_ALARMS=f"{url}/hook")
        running = await made.start("serve", "--port", str(port))
        await running.says("Alarms")
        await http.post(
            f"http://127.0.0.1:{port}/hooks/greet", json={"id": "1"}, headers={"Authorization": f"Bearer {SECRET}"}
        )
        async with asyncio.timeout(PATIENCE):
            told = await heard.get()
        assert await running.stop() == 0
    assert str(told).startswith("{'text': 'Gofer: For ada@example.com: greet: failed. Look at it: gofer trace ")
    assert heard.empty()
