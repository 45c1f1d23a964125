"""The format Responses of OpenAI: what it reads, its failures and its usage, in one piece or streamed.

Source: the types of the package `openai`, 3.57.0. A test compares the tables with all their members.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from gofer.models.answer_text import split_thoughts
from gofer.models.failures import error_in, failed
from gofer.models.formats.completion_stream import events, is_stream
from gofer.models.formats.format import MOST_CALLS, NAME_LIMIT, TEXT_LIMIT, count, kept
from gofer.models.language_model import Access, Answer, Refused, Unavailable, Unusable
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError, ToolAsk, Usage

Treatment = Literal["read", "kept", "for the client"]
"""What becomes of an item: its words or call are read; it goes back only; or it asks the client for something that
Gofer never offers, so that it is kept and does not go back."""
ITEMS: Mapping[str, Treatment] = {
    "message": "read",
    "function_call": "read",
    "reasoning": "read",
    "function_call_output": "kept",
    "program": "kept",
    "program_output": "kept",
    "compaction": "kept",
    "additional_tools": "kept",
    "file_search_call": "kept",
    "web_search_call": "kept",
    "tool_search_call": "kept",
    "tool_search_output": "kept",
    "image_generation_call": "kept",
    "code_interpreter_call": "kept",
    "mcp_call": "kept",
    "mcp_list_tools": "kept",
    "mcp_approval_response": "kept",
    "computer_call_output": "kept",
    "local_shell_call_output": "kept",
    "shell_call_output": "kept",
    "apply_patch_call_output": "kept",
    "custom_tool_call_output": "kept",
    "computer_call": "for the client",
    "local_shell_call": "for the client",
    "shell_call": "for the client",
    "apply_patch_call": "for the client",
    "custom_tool_call": "for the client",
    "mcp_approval_request": "for the client",
}
"""The treatment of each type of item. An unknown one is kept, and goes back."""
REASONS: Mapping[str, str] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "steered": "length",
    "content_filter": "content_filter",
}
"""The finish of an incomplete answer by its reason; `length` for any other."""
UNFINISHED = ("cancelled", "queued", "in_progress")
"""The statuses of a response that holds no answer, beside `failed`."""
CODES: Mapping[str, int] = {
    "server_error": 500,
    "rate_limit_exceeded": 429,
    "vector_store_timeout": 504,
    "invalid_prompt": 400,
    "data_residency_mismatch": 400,
    "bio_policy": 400,
    "misalignment_policy_violation": 400,
    "invalid_image": 400,
    "invalid_image_format": 400,
    "invalid_base64_image": 400,
    "invalid_image_url": 400,
    "image_too_large": 400,
    "image_too_small": 400,
    "image_parse_error": 400,
    "image_content_policy_violation": 400,
    "invalid_image_mode": 400,
    "image_file_too_large": 400,
    "unsupported_image_media_type": 400,
    "empty_image_file": 400,
    "failed_to_download_image": 400,
    "image_file_not_found": 400,
}
"""The HTTP status that fits each code of a response that failed, which itself came with status 200."""
ENDS = ("response.completed", "response.incomplete", "response.failed")
"""The last events of a stream, which hold the whole response. The event `error` ends it too."""
_ITEM_DONE = "response.output_item.done"
_PLAIN = frozenset({"id", "type", "role", "status", "content", "call_id", "name", "arguments"})
"""The fields of a message or a call that hold nothing beyond the neutral form."""


def read_answer(raw: bytes, at: Access) -> Answer:
    """Return the answer in the body of a response, in one piece or streamed.

    Raises Unusable for a body that is no answer, and the error of `failed` for an error in place of an answer.
    """
    body = _body(raw, at)
    status = as_text(body.get("status"))
    if body.get("error") or status == "failed":
        raise _failure(body.get("error"), at)
    if not isinstance(body.get("output"), list):
        raise Unusable(f"The model's answer held no output; check {at.url_setting} and the model's name.")
    if status in UNFINISHED:
        raise _failure({"code": status, "message": f"The response is {status}."}, at)
    return _answer(body, [as_object(item) for item in as_list(body["output"])])


def _answer(body: Mapping[str, object], items: Sequence[Mapping[str, object]]) -> Answer:
    refusal = "".join(as_text(part.get("refusal")) for part in _parts(items))
    calls = [item for item in items if item.get("type") == "function_call"]
    finish = _finish(body, refused=bool(refusal), called=bool(calls))
    text = split_thoughts(_text(items))
    extra = ""
    if len(calls) <= MOST_CALLS and (text.thoughts or not _is_plain(items)):
        extra = kept({"items": items})
    return Answer(
        text=(refusal or text.text)[:TEXT_LIMIT],
        asks=tuple(_ask(call, cut=finish == "length") for call in calls[:MOST_CALLS]),
        finish=finish,
        model=as_text(body.get("model"))[:NAME_LIMIT],
        usage=_usage(as_object(body.get("usage"))),
        extra=extra,
        thoughts=(text.thoughts or _thoughts(items))[:TEXT_LIMIT],
        cache_miss=_cache_miss(as_object(body.get("prompt_cache_diagnostics"))),
        ignored=_ignored(as_list(body.get("input_transformations"))),
        response_id=as_text(body.get("id"))[:NAME_LIMIT],
    )


def _body(raw: bytes, at: Access) -> Mapping[str, object]:
    if is_stream(raw):
        return _last(raw, at)
    try:
        value = decode(raw)
    except BadRequest as error:
        raise Unusable(f"The model's answer was not JSON; check {at.url_setting}.") from error
    if not as_object(value) and (found := error_in(value, 200, at.key.reveal())):
        raise failed(found, at)
    return as_object(value)


def _last(raw: bytes, at: Access) -> Mapping[str, object]:
    """Return the response in the last event of a stream."""
    done: list[Mapping[str, object]] = []
    for data in events(raw.decode(errors="replace")):
        try:
            event = as_object(decode(data.encode()))
        except BadRequest:
            # Only the last event of a broken stream is no JSON.
            break
        kind = event.get("type")
        if kind == _ITEM_DONE:
            done.append(as_object(event.get("item")))
        elif kind in ENDS:
            return _completed(as_object(event.get("response")), done)
        elif kind == "error" or event.get("error"):
            raise _failure(event.get("error") or {**event, "type": ""}, at)
    raise failed(ProviderError("unreachable", message="the stream broke off"), at)


def _completed(body: Mapping[str, object], done: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
    """Return a response with the thoughts of the events before it, where it lacks their encrypted form."""
    by_id = {as_text(item.get("id")): item for item in done if item.get("encrypted_content")}
    items: list[object] = []
    for item in as_list(body.get("output")) or done:
        fields = as_object(item)
        encrypted = fields.get("type") != "reasoning" or fields.get("encrypted_content")
        items.append(item if encrypted else by_id.get(as_text(fields.get("id")), item))
    return {**body, "output": items}


def _failure(error: object, at: Access) -> Unavailable | Unusable | Refused:
    """Return the failure that a response holds in place of an answer, in the provider's words."""
    status = CODES.get(as_text(as_object(error).get("code")), 200)
    words = {"error": error or {"message": "The response failed."}}
    return failed(error_in(words, status, at.key.reveal()) or ProviderError("busy"), at)


def _finish(body: Mapping[str, object], *, refused: bool, called: bool) -> str:
    reason = as_text(as_object(body.get("incomplete_details")).get("reason"))
    if refused:
        return "refusal"
    if body.get("status") == "incomplete" or reason:
        return REASONS.get(reason, "length")
    if called:
        return "tool_calls"
    return "stop"


def _parts(items: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [as_object(part) for item in items if item.get("type") == "message" for part in as_list(item.get("content"))]


def _text(items: Sequence[Mapping[str, object]]) -> str:
    """Return the words of the answer; beside a final answer, comments on the way to it are not for people."""
    messages = [item for item in items if item.get("type") == "message"]
    final = [item for item in messages if item.get("phase") == "final_answer"]
    texts = ["".join(as_text(part.get("text")) for part in _parts([item])) for item in final or messages]
    return "\n\n".join(filter(None, texts))


def _thoughts(items: Sequence[Mapping[str, object]]) -> str:
    """Return the thoughts that can be read: summaries, and the thoughts of servers that do not encrypt them."""
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    pieces = [[*as_list(item.get("summary")), *as_list(item.get("content"))] for item in thoughts]
    return "\n\n".join(filter(None, (as_text(as_object(piece).get("text")) for some in pieces for piece in some)))


def _is_plain(items: Sequence[Mapping[str, object]]) -> bool:
    """Return whether the neutral form holds all of the items: messages, then calls, without further fields."""
    kinds = [item.get("type") for item in items]
    texts = kinds.count("message")
    plain = ["message"] * texts + ["function_call"] * (len(kinds) - texts)
    return kinds == plain and all(name in _PLAIN for item in items for name, value in item.items() if value is not None)


def _ask(call: Mapping[str, object], *, cut: bool) -> ToolAsk:
    arguments = call.get("arguments")
    text = as_text(arguments)
    if arguments is not None and not isinstance(arguments, str):
        text = encode_text(arguments)
    if not text and not cut:
        text = "{}"
    id_ = as_text(call.get("call_id"))[:NAME_LIMIT]
    return ToolAsk(id=id_, tool=as_text(call.get("name"))[:NAME_LIMIT], arguments=text)


def _usage(usage: Mapping[str, object]) -> Usage:
    details = as_object(usage.get("input_tokens_details"))
    read = count(usage.get("input_tokens"))
    output = count(usage.get("output_tokens"))
    cached = min(count(details.get("cached_tokens")), read)
    written = min(count(details.get("cache_write_tokens")), read - cached)
    kept_for = as_object(details.get("cache_write_tokens_details"))
    thought = count(as_object(usage.get("output_tokens_details")).get("reasoning_tokens"))
    return Usage(
        input_tokens=read,
        output_tokens=output,
        cached_tokens=cached,
        written_tokens=written,
        written_long_tokens=min(count(kept_for.get("ttl_12h_tokens")), written),
        reasoning_tokens=min(thought, output),
    )


def _cache_miss(found: Mapping[str, object]) -> str:
    if found.get("type") != "cache_miss":
        return ""
    return as_text(found.get("reason"))[:NAME_LIMIT] or "cache_miss"


def _ignored(transformations: Sequence[object]) -> str:
    """Return how many items of the request the provider ignored, and why."""
    names = ("type", "action", "reason")
    counted = Counter(tuple(as_text(as_object(one).get(name)) for name in names) for one in transformations)
    said = (f"{count} {kind} {action}: {reason}" for (kind, action, reason), count in counted.items())
    return ", ".join(said)[:NAME_LIMIT]
