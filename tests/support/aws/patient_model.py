"""A model over HTTP whose answers wait for the test, except quick ones."""

import asyncio
import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


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
