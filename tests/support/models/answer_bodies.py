"""The body in which each vendor sends an answer: a neutral answer, translated to the three formats.

Sources: the response types of `openai` 3.57.0 and `anthropic` 2.14.0.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gofer.models.language_model import Answer
from gofer.values.messages import Api, ToolAsk

Body = dict[str, Any]

_CHAT: Mapping[str, str] = {"refusal": "stop"}
_INCOMPLETE: Mapping[str, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_STOP_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""The word of each format for a neutral finish; any other finish is sent as it is."""


def body_of(answer: Answer, api: Api, number: int) -> Body:
    """Return the body of an answer in a format. `number` makes its ids; `answer.thoughts` become thoughts to keep."""
    match api:
        case "chat_completions":
            return _completion(answer, number)
        case "responses":
            return _response(answer, number)
        case "messages":
            return _message(answer, number)


def stream_of(body: Body, api: Api) -> bytes:
    """Return a body as the events of a stream."""
    match api:
        case "chat_completions":
            [choice] = body["choices"]
            delta = {**choice["message"]}
            if calls := delta.get("tool_calls"):
                delta["tool_calls"] = [{"index": at, **one} for at, one in enumerate(calls)]
            first = {**body, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            last = {**body, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
            return _events([first, last]) + b"data: [DONE]\n\n"
        case "responses":
            done = [{"type": "response.output_item.done", "item": item} for item in body["output"]]
            return _events([*done, {"type": f"response.{body['status']}", "response": body}])
        case "messages":
            blocks = [event for at, block in enumerate(body["content"]) for event in _block_events(at, block)]
            begin = {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
            delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
            end = {"type": "message_delta", "delta": delta, "usage": body.get("usage")}
            return _events([begin, *blocks, end, {"type": "message_stop"}])


def _block_events(at: int, block: Body) -> Sequence[Body]:
    match block:
        case {"type": "tool_use", "input": given}:
            piece = {"type": "input_json_delta", "partial_json": given if isinstance(given, str) else json.dumps(given)}
            empty = {**block, "input": {}}
        case {"type": "text", "text": text}:
            piece, empty = {"type": "text_delta", "text": text}, {**block, "text": ""}
        case _:
            return [{"type": "content_block_start", "index": at, "content_block": block}]
    return [
        {"type": "content_block_start", "index": at, "content_block": empty},
        {"type": "content_block_delta", "index": at, "delta": piece},
        {"type": "content_block_stop", "index": at},
    ]


def _events(events: Sequence[Body]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def signature(words: str) -> str:
    """Return the signature of thoughts, which a vendor accepts with exactly these words."""
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()


def _completion(answer: Answer, number: int) -> Body:
    said: Body = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.finish == "refusal":
        said |= {"content": None, "refusal": answer.text or "No."}
    if answer.thoughts:
        said["reasoning_content"] = answer.thoughts
    if answer.asks:
        said["tool_calls"] = [
            {"id": ask.id, "type": "function", "function": {"name": ask.tool, "arguments": ask.arguments}}
            for ask in answer.asks
        ]
    finish = _CHAT.get(answer.finish, answer.finish)
    usage = answer.usage
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": answer.model,
        "choices": [{"index": 0, "finish_reason": finish, "logprobs": None, "message": said}],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.written_tokens,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        },
    }


def _response(answer: Answer, number: int) -> Body:
    reason = _INCOMPLETE.get(answer.finish)
    usage = answer.usage
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": answer.model,
        "output": list(_items(answer, number)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.written_tokens,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    }


def _items(answer: Answer, number: int) -> Sequence[Body]:
    items: list[Body] = []
    if answer.thoughts:
        encrypted = signature(answer.thoughts)
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": encrypted})
    if answer.text or not answer.asks:
        part: Body = {"type": "output_text", "text": answer.text, "annotations": []}
        if answer.finish == "refusal":
            part = {"type": "refusal", "refusal": answer.text or "No."}
        said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        items.append({**said, "content": [part]})
    for at, ask in enumerate(answer.asks):
        call = {"type": "function_call", "id": f"fc_{number}_{at}", "status": "completed"}
        items.append({**call, "call_id": ask.id, "name": ask.tool, "arguments": ask.arguments})
    return items


def _message(answer: Answer, number: int) -> Body:
    blocks: list[Body] = []
    if answer.thoughts:
        blocks.append({"type": "thinking", "thinking": answer.thoughts, "signature": signature(answer.thoughts)})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text, "citations": None})
    blocks += [{"type": "tool_use", "id": ask.id, "name": ask.tool, "input": _input(ask)} for ask in answer.asks]
    usage = answer.usage
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": _STOP_REASONS.get(answer.finish, answer.finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input_tokens - usage.cached_tokens - usage.written_tokens,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation_input_tokens": usage.written_tokens,
            "output_tokens": usage.output_tokens,
        },
    }


def _input(ask: ToolAsk) -> object:
    """Return the arguments as an object; as text if they are no JSON, as a server sends that does not read them."""
    try:
        return cast(object, json.loads(ask.arguments))
    except ValueError:
        return ask.arguments
