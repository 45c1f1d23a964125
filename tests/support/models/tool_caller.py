"""A model that calls tools about phones, for runs on Lambda."""

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def caller(*tools: str) -> Starlette:
    """A model that calls these tools one after the other, and then repeats all results."""

    async def complete(request: Request) -> Response:
        messages = json.loads(await request.body())["messages"]
        results = [message["content"] for message in messages if message["role"] == "tool"]
        said: dict[str, Any] = {"role": "assistant", "content": " ".join(results)}
        if len(results) < len(tools):
            function = {"name": tools[len(results)], "arguments": json.dumps({"number": "+49 30 1"})}
            call = {"id": f"call_{len(results)}", "type": "function", "function": function}
            said = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "tool_calls" if said.get("tool_calls") else "stop", "message": said}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 10}
        return JSONResponse({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
