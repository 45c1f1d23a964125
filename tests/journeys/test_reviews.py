"""Reviews of ended runs, as Gofer ships: from a mention to the statistics, and never of a private run."""

import asyncio
import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.cli.main import main
from gofer.journal.entries import RunReviewed
from gofer.projections.progress import project
from support.app.company import company
from support.models.reviewing import VERDICT, is_review, review


def test_public_run_is_reviewed_and_a_private_one_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed: list[bytes] = []

    async def answer(request: Request) -> Response:
        body = await request.body()
        if is_review(body):
            reviewed.append(body)
            return review()
        message = {"role": "assistant", "content": "It is at noon."}
        return JSONResponse({"model": "m", "choices": [{"finish_reason": "stop", "message": message}], "usage": {}})

    async def play() -> RunReviewed:
        model = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
        async with serve(model) as url, company(tmp_path, OPENAI_BASE_URL=f"{url}/v1") as made:
            await made.ask("@Gofer when is the secret lunch?", "leads")
            await made.ask("@Gofer when is lunch?", "general")
            (public,) = [head.run for head in await made.ended() if not head.private]
            async with asyncio.timeout(60):
                while (found := project(await made.journal(public)).follow_ups.reviewed) is None:
                    await asyncio.sleep(0.01)
        return found

    found = asyncio.run(play())
    assert (found.effective, found.why, found.input_tokens) == (True, VERDICT["why"], 500)
    (request,) = reviewed
    run = json.loads(json.loads(request)["messages"][1]["content"])["run"]
    assert (run["answer"], run["status"]) == ("It is at noon.", "done")
    assert b"secret" not in request
    capsys.readouterr()
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    assert main(["stats"]) == 0
    shown = capsys.readouterr().out
    assert "1 reviewed run, effective 100 % of 1 ?; the reviews cost 0.0001 USD, which is not" in shown
    assert "the reviews are an opinion only. The agreement with people is not measured: 0 of at least 20" in shown
