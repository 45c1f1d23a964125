"""The offline model: scripted answers over an OpenAI-compatible HTTP interface.

The server keeps no state: the same request bytes get the same answer bytes. A label in each text says that no real
model wrote it.
"""

import hashlib
import json
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.values.model_script import Script, Turn, choose
from gofer_simulators.json_values import is_array, is_object, objects, parsed, text_of

MODEL = "offline-model"
LABEL = "[offline model] "
NO_SCRIPT = "no_script"
"""The error code for a conversation that no step of a script fits."""
_BYTES_PER_TOKEN = 4
_EPOCH = 1_700_000_000


def offline_model(scripts: Sequence[Script]) -> Starlette:
    """Return an app that answers `POST /v1/chat/completions` and `GET /v1/models` from these scripts."""

    async def completions(request: Request) -> Response:
        return _completion(scripts, await request.body())

    routes = [
        Route("/v1/chat/completions", completions, methods=["POST"]),
        Route("/v1/models", _models, methods=["GET"]),
    ]
    return Starlette(routes=routes)


async def _models(_: Request) -> Response:
    model = {"id": MODEL, "object": "model", "created": _EPOCH, "owned_by": "gofer"}
    return JSONResponse({"object": "list", "data": [model]})


def _completion(scripts: Sequence[Script], body: bytes) -> Response:
    try:
        request = parsed(body)
    except ValueError:
        return _refusal("We could not parse the JSON body of your request.")
    if not is_object(request):
        return _refusal("The JSON body of your request is not an object.")
    messages = request.get("messages")
    if not is_array(messages) or not messages:
        return _refusal("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    if request.get("stream"):
        return _refusal("The offline model does not stream.", "stream", "unsupported_value")
    mistake = _pairing_mistake(objects(messages))
    if mistake:
        return _refusal(mistake, "messages")
    turn = choose(scripts, request)
    if turn.mismatch:
        return _refusal(turn.mismatch, code=NO_SCRIPT)
    return JSONResponse(_answer(turn, body))


def _pairing_mistake(messages: Sequence[dict[str, object]]) -> str | None:
    """Return the vendor's message for tool calls without an answer or the reverse, or None if all are paired."""
    open_ids: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            call_id = text_of(message, "tool_call_id")
            if call_id not in open_ids:
                return "A message with role 'tool' must answer a preceding message with 'tool_calls'."
            open_ids.remove(call_id)
            continue
        if open_ids:
            break
        open_ids = [text_of(call, "id") for call in objects(message.get("tool_calls"))]
    if not open_ids:
        return None
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages for each 'tool_call_id'. "
        f"These have none: {', '.join(open_ids)}."
    )


def _answer(turn: Turn, body: bytes) -> dict[str, object]:
    digest = hashlib.sha256(body).hexdigest()
    message = _message(turn)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "tool_calls" if turn.calls else "stop",
    }
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": _EPOCH + int(digest[:6], 16),
        "model": MODEL,
        "choices": [choice],
        "usage": _usage(len(body), len(json.dumps(message, ensure_ascii=False).encode())),
    }


def _message(turn: Turn) -> dict[str, object]:
    message: dict[str, object] = {
        "role": "assistant",
        "content": _labelled(turn.text) if turn.text else None,
        "refusal": None,
    }
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": turn.call_id(index),
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for index, call in enumerate(turn.calls, start=1)
        ]
    return message


def _labelled(text: str) -> str:
    # A label would make JSON invalid for the program that reads it. People do not read such answers.
    if text.startswith("{"):
        return text
    return LABEL + text


def _usage(prompt_bytes: int, completion_bytes: int) -> dict[str, object]:
    prompt = -(-prompt_bytes // _BYTES_PER_TOKEN)
    completion = -(-completion_bytes // _BYTES_PER_TOKEN)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _refusal(message: str, param: str | None = None, code: str | None = None) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return JSONResponse({"error": error}, status_code=400)
