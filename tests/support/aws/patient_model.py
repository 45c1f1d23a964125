"""A model over HTTP with answers that wait for the test, except quick ones; and the wait for its answer in Slack."""

import asyncio
import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer_simulators.slack.workspace import Message
from support.aws.lambda_host import HANGS
from support.aws.lambda_stage import Stage


def patient_model() -> Starlette:
    """A model that answers a question with "quick" at once, and others when `state.go_on` is set."""

    async def complete(request: Request) -> Response:
        asked = json.loads(await request.body())
        if "quick" not in json.dumps(asked["messages"][1:]):
            app.state.waiting.set()
            await app.state.go_on.wait()
        usage = {"prompt_tokens": 1_000, "completion_tokens": 10}
        message = {"role": "assistant", "content": "Here you are."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return JSONResponse({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.state.waiting = asyncio.Event()
    app.state.go_on = asyncio.Event()
    return app


async def answered(made: Stage, asked: Message) -> Message:
    """Return the only answer to a message, once the text of its run is there."""
    async with asyncio.timeout(HANGS):
        while True:
            found = made.answers(asked)
            if found and "Here you are." in found[0].text:
                (answer,) = found
                return answer
            await asyncio.sleep(0.05)
