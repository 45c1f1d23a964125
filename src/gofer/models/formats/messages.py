"""The format Messages of Anthropic, with its version of 21 October 2026.

Source: the types of its SDK. A turn of the assistant goes back as the blocks in which it came, unchanged and in place,
but only to the model that wrote it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from gofer.models.answer_text import split_thoughts
from gofer.models.failures import error_in, failed
from gofer.models.formats.completion_stream import is_stream
from gofer.models.formats.format import (
    BOUNDS,
    MOST_CALLS,
    NAME_LIMIT,
    TEXT_LIMIT,
    Wire,
    count,
    is_own,
    is_strict,
    kept,
)
from gofer.models.formats.message_stream import message_of
from gofer.models.language_model import Access, Answer, Unusable
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import Api, ProviderError, ToolAsk, Usage

VERSION = "2026-10-21"
"""The version of the API, which decides what a request may hold. At this one, sampling parameters are refused."""
MOST_TOKENS = 16_000
"""Tokens of an answer and its thoughts when the workflow sets no number, which the format requires. It is below what
every model of the vendor writes, and what it writes within the time of one answer."""
BLOCKS = "blocks"
"""The key of an answer's blocks in what the provider gets back."""
_MARK = {"type": "ephemeral"}
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    # The vendor's own tools pause a turn; sent back unchanged, it goes on, as an answer does that was cut off.
    "pause_turn": "length",
    "refusal": "refusal",
}
"""The neutral finish of each `stop_reason`. `model_context_window_exceeded` is no finish but a failure."""
_THOUGHTS = ("thinking", "redacted_thinking")
_PLAIN = ("text", "tool_use")
"""Types of blocks that their neutral form holds whole."""
_OWN = (
    *("messages", "tools", "tool_choice", "parallel_tool_calls", "reasoning"),
    *("output_schema", "alternate_roles", "previous_response"),
)
_NOT_DIAGNOSED = ("previous_message_not_found", "unavailable")
_NOT_IN_FORMS = BOUNDS | {"pattern", "format"}
"""The keywords that the vendor does not take in the form of an answer, or not with each value. Source: its SDK, which
moves them to the description."""
_RENAMED = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}


_ID = re.compile("[A-Za-z0-9_-]+")
"""The ids of calls that the vendor takes; other models write dots and colons. Source: its words when it refuses one."""
_NOT_IN_IDS = re.compile("[^A-Za-z0-9_-]")


class Messages:
    """The format Messages."""

    api: Api = "messages"
    path = "/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the header with the key, and the version."""
        version = {"anthropic-version": VERSION}
        if not key:
            return version
        return {"x-api-key": key, **version}

    def encode(self, body: bytes, by: str) -> Wire:
        """Return the request in this format, with marks for the cache after tools, system text and history."""
        request = as_object(decode(body))
        system, *rest = map(as_object, as_list(request.get("messages")))
        text = as_text(system.get("content"))
        sent = {**_params(request), "messages": list(_turns(rest, self.api, by))}
        if text.strip():
            sent["system"] = [{"type": "text", "text": text, "cache_control": _MARK}]
        return Wire(encode(sent), stream=request.get("stream") is True)

    def parse(self, raw: bytes, at: Access) -> Answer:
        """Return the answer in a body. Raises the errors of `Format.parse`."""
        body = _body(raw, at)
        if body.get("type") != "message" or not isinstance(body.get("content"), list):
            raise Unusable(f"The model's answer was no message; check {at.url_setting} and the model's name.")
        reason = as_text(body.get("stop_reason"))[:NAME_LIMIT]
        if reason == "model_context_window_exceeded":
            raise failed(ProviderError("too_large", code=reason), at)
        blocks = list(map(as_object, as_list(body.get("content"))))
        said = split_thoughts(_joined(blocks, "text"))
        text = said.text
        if reason == "refusal":
            text = text or as_text(as_object(body.get("stop_details")).get("explanation"))
        return Answer(
            text=text[:TEXT_LIMIT],
            asks=tuple(_ask(block) for block in blocks if block.get("type") == "tool_use")[:MOST_CALLS],
            finish=_FINISHES.get(reason, reason or "stop"),
            model=as_text(body.get("model"))[:NAME_LIMIT],
            usage=_usage(as_object(body.get("usage"))),
            extra=_extra(blocks, thought=bool(said.thoughts)),
            thoughts=(said.thoughts or _joined(blocks, "thinking"))[:TEXT_LIMIT],
            cache_miss=_cache_miss(as_object(body.get("diagnostics"))),
            response_id=as_text(body.get("id"))[:NAME_LIMIT],
        )


def _params(request: Mapping[str, object]) -> Mapping[str, object]:
    """Return everything of a request but its messages. A parameter that no table here names goes out unchanged."""
    sent: dict[str, object] = {"max_tokens": MOST_TOKENS}
    sent |= {_RENAMED.get(name, name): value for name, value in request.items() if name not in _OWN}
    if tools := list(map(_tool, as_list(request.get("tools")))):
        sent["tools"] = [*tools[:-1], {**tools[-1], "cache_control": _MARK}]
        sent |= _choice(request)
    reasoning = as_object(request.get("reasoning"))
    output = dict[str, object]()
    if reasoning:
        sent["thinking"] = _thinking(reasoning)
    if (effort := as_text(reasoning.get("effort"))) and effort != "none":
        output["effort"] = {"minimal": "low"}.get(effort, effort)
    if (schema := as_object(request.get("output_schema"))) and is_strict(schema):
        output["format"] = {"type": "json_schema", "schema": _form(schema)}
    if output:
        sent["output_config"] = output
    if "previous_response" in request:
        # Null asks the vendor to keep what the next request is compared with.
        sent["diagnostics"] = {"previous_message_id": request["previous_response"] or None}
    return sent


def _form(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return a schema without the bounds and patterns that the vendor does not take; code checks them in the answer."""
    form = {name: value for name, value in schema.items() if name not in _NOT_IN_FORMS}
    for name in {*form} & {"properties", "$defs"}:
        form[name] = {key: _form(as_object(inner)) for key, inner in as_object(form[name]).items()}
    if "anyOf" in form:
        form["anyOf"] = [_form(as_object(inner)) for inner in as_list(form["anyOf"])]
    if "items" in form:
        form["items"] = _form(as_object(form["items"]))
    return form


def _tool(tool: object) -> Mapping[str, object]:
    function = as_object(as_object(tool).get("function"))
    described = {name: function[name] for name in ("name", "description") if name in function}
    return {**described, "input_schema": function.get("parameters") or {"type": "object"}}


def _choice(request: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameter `tool_choice`; none if the request leaves the choice to the model."""
    chosen = request.get("tool_choice")
    choice: dict[str, object] = {"type": _CHOICES.get(as_text(chosen), "auto")}
    if name := as_object(as_object(chosen).get("function")).get("name"):
        choice = {"type": "tool", "name": name}
    if request.get("parallel_tool_calls") is False and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    if choice == {"type": "auto"}:
        return {}
    return {"tool_choice": choice}


def _thinking(reasoning: Mapping[str, object]) -> Mapping[str, object]:
    if reasoning.get("effort") == "none":
        return {"type": "disabled"}
    # Some models show their thoughts unasked. `summary` means the same in each format.
    return {"type": "adaptive", "display": "summarized" if reasoning.get("summary") else "omitted"}


def _turns(messages: Sequence[Mapping[str, object]], api: Api, by: str) -> Iterator[Mapping[str, object]]:
    """Yield the turns, whose roles alternate. The last message, which changes with each call, stays behind the mark."""
    turns: list[tuple[str, list[Mapping[str, object]]]] = []
    ids: dict[str, str] = {}
    for number, message in enumerate(messages, start=1):
        role = "assistant" if message.get("role") == "assistant" else "user"
        if number == len(messages):
            _mark(turns)
        blocks = list(_blocks(message, ids, is_own(message, api, by)))
        if blocks and (not turns or turns[-1][0] != role):
            turns.append((role, []))
        if blocks:
            turns[-1][1].extend(blocks)
    for role, blocks in turns:
        yield {"role": role, "content": blocks}


def _mark(turns: Sequence[tuple[str, list[Mapping[str, object]]]]) -> None:
    """Mark the last block of people or tools; blocks of the model stay as they are."""
    blocks = next((blocks for role, blocks in reversed(turns) if role == "user"), None)
    if blocks:
        blocks[-1] = {**blocks[-1], "cache_control": _MARK}


def _blocks(message: Mapping[str, object], ids: dict[str, str], own: bool) -> Iterator[Mapping[str, object]]:
    """Yield the blocks of a message; `ids` are the vendor's ids of calls, by their ids in the history."""
    calls = list(map(as_object, as_list(message.get("tool_calls"))))
    match message.get("role"):
        case "tool":
            id_ = as_text(message.get("tool_call_id"))
            yield {"type": "tool_result", "tool_use_id": ids.get(id_, id_), "content": as_text(message.get("content"))}
        case "assistant" if own and (blocks := _own_blocks(message, calls)):
            made = [as_text(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
            ids |= dict(zip([as_text(call.get("id")) for call in calls], made, strict=True))
            yield from blocks
        case "assistant":
            if text := split_thoughts(as_text(message.get("content"))).text.strip():
                yield {"type": "text", "text": text}
            for call in calls:
                id_ = as_text(call.get("id"))
                if not _ID.fullmatch(id_):
                    ids[id_] = f"call_{len(ids)}_{_NOT_IN_IDS.sub('_', id_)}"
                yield _call(call, ids.get(id_, id_))
        case _:
            yield from _content(message.get("content"))


def _own_blocks(message: Mapping[str, object], calls: Sequence[object]) -> Sequence[Mapping[str, object]]:
    """Return the blocks of the vendor; none if it would refuse them, because a call in them gets no result."""
    blocks = list(map(as_object, as_list(message.get(BLOCKS))))
    # Thoughts that were cut off: nothing follows them, and the vendor refuses a turn that ends with thoughts.
    while blocks and blocks[-1].get("type") in _THOUGHTS:
        blocks.pop()
    if sum(block.get("type") == "tool_use" for block in blocks) == len(calls):
        return blocks
    return []


def _call(call: Mapping[str, object], id_: str) -> Mapping[str, object]:
    function = as_object(call.get("function"))
    try:
        given = as_object(decode(as_text(function.get("arguments")).encode()))
    except BadRequest:
        given = dict[str, object]()
    return {"type": "tool_use", "id": id_, "name": function.get("name"), "input": given}


def _content(content: object) -> Iterator[Mapping[str, object]]:
    """Yield the blocks of a message of people: texts that are not empty, images and documents."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in map(as_object, as_list(content)):
        url = as_text(as_object(part.get("image_url")).get("url"))
        file = as_object(part.get("file"))
        if url or file:
            kind = "image" if url else "document"
            head, _, data = (url or as_text(file.get("file_data"))).partition(";base64,")
            source = {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
            yield {"type": kind, "source": source}
        elif as_text(part.get("text")).strip():
            yield {"type": "text", "text": part["text"]}


def _body(raw: bytes, at: Access) -> Mapping[str, object]:
    if is_stream(raw):
        return message_of(raw, at)
    try:
        value = decode(raw)
    except BadRequest as error:
        raise Unusable(f"The model's answer was not JSON; check {at.url_setting}.") from error
    if error := error_in(value, 200, at.key.reveal()):
        raise failed(error, at)
    return as_object(value)


def _joined(blocks: Sequence[Mapping[str, object]], kind: str) -> str:
    """Return the texts of all blocks of one type, whose key is its name."""
    return "".join(as_text(block.get(kind)) for block in blocks if block.get("type") == kind)


def _ask(block: Mapping[str, object]) -> ToolAsk:
    given = block.get("input")
    text = encode_text(given)
    if isinstance(given, str):
        # A stream that was cut inside the arguments.
        text = given
    id_ = as_text(block.get("id"))[:NAME_LIMIT]
    return ToolAsk(id=id_, tool=as_text(block.get("name"))[:NAME_LIMIT], arguments=text)


def _extra(blocks: Sequence[Mapping[str, object]], *, thought: bool) -> str:
    """Return the blocks for the next request if the neutral form lacks something of them: thoughts, unknown types.

    `thought` says that thoughts stand in the text, as other models write them behind this format.
    """
    if not thought and all(block.get("type") in _PLAIN for block in blocks):
        return ""
    return kept({BLOCKS: list(map(_whole, blocks))})


def _whole(block: Mapping[str, object]) -> Mapping[str, object]:
    """Return a block as the vendor takes it back; arguments that are no object, or were cut off, count as none."""
    if not isinstance(block.get("input", {}), Mapping):
        return {**block, "input": dict[str, object]()}
    return block


def _cache_miss(diagnostics: Mapping[str, object]) -> str:
    reason = as_text(as_object(diagnostics.get("cache_miss_reason")).get("type"))[:NAME_LIMIT]
    return "" if reason in _NOT_DIAGNOSED else reason


def _usage(usage: Mapping[str, object]) -> Usage:
    """Return the tokens. The vendor's `input_tokens` are those that its cache neither read nor wrote."""
    read = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    longer = count(as_object(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    return Usage(
        input_tokens=count(usage.get("input_tokens")) + read + written,
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=read,
        written_tokens=written,
        written_long_tokens=min(longer, written),
        reasoning_tokens=count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
