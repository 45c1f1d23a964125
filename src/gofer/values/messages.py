"""Messages to and from a model, and their bytes.

The bytes follow OpenAI-compatible Chat Completions. Gofer encodes a message once, when the message enters the
conversation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast, get_args

from gofer.values.canonical_json import MAX_DEPTH, as_object, clean, deeper_than, encode, finite, refuse_constant

ARGUMENTS_LIMIT = 200_000
"""The most characters of one call's arguments that Gofer parses."""


@dataclass(frozen=True)
class ToolAsk:
    """One tool call as the model wrote it. `arguments` is untrusted JSON text."""

    id: str
    """The provider's id, or empty. Gofer's own id of a call is `<turn>.<index>`."""
    tool: str
    arguments: str
    extra: str = ""
    """A JSON object of further fields that the provider expects back with the call; empty for none."""

    @cached_property
    def parsed(self) -> Mapping[str, object] | None:
        """The parsed arguments, which all projections share; None if they are no JSON object. Parsed once."""
        try:
            return arguments(self.arguments)
        except ValueError:
            return None


CALL_TOOL = "call_tool"
"""The tool that calls tools that the prompt does not list, by their `name` and `arguments`."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a document that a model reads by itself, beside the text."""

    file: str
    """The id of the run's file."""
    media_type: str
    data: str
    """The bytes in base64."""
    pages: int = 0
    """The number of pages of a document; 0 if they were not counted."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one model call as the provider counted them. `input_tokens` includes those read and written."""

    input_tokens: int = 0
    output_tokens: int = 0
    """Includes `reasoning_tokens`."""
    cached_tokens: int = 0
    """The tokens that the provider read from its cache."""
    written_tokens: int = 0
    """The tokens that the provider wrote to its cache and charged for."""
    written_long_tokens: int = 0
    """Those of `written_tokens` that the provider keeps for the longer of its two retentions."""
    reasoning_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Return the tokens of both."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            written_long_tokens=self.written_long_tokens + other.written_long_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


Api = Literal["responses", "chat_completions", "messages"]
"""The formats in which models are asked, as files and journals name them."""
APIS: Sequence[Api] = get_args(Api)
BY = "by"
"""The key of an answer in the history that names its maker, `{"api": …, "model": …}`; it is never sent."""
ENDPOINT = "endpoint"
"""The parameter that names a model's endpoint. The journal records it; the request does not contain it."""


def sent(params: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameters without the endpoint, as a request contains them."""
    return {name: value for name, value in params.items() if name != ENDPOINT}


def asked_at(params: Mapping[str, object]) -> str:
    """Return the model of recorded parameters as `endpoint/model`, or as `model` at the default endpoint."""
    endpoint = params.get(ENDPOINT, "")
    model = str(params.get("model", ""))
    if not endpoint:
        return model
    return f"{endpoint}/{model}"


FailureClass = Literal[
    "bad_sample",
    "no_credit",
    "filtered",
    "too_large",
    "roles",
    "unknown_model",
    "unknown_parameter",
    "wrong_key",
    "no_endpoint",
    "busy",
    "unreachable",
    "no_script",
    "refused",
]
"""The classes of failed requests to a model. `models/failures.py` decides what a run does about each."""


@dataclass(frozen=True, slots=True)
class ProviderError:
    """A provider's error response to a request."""

    failure: FailureClass
    status: int = 0
    """The HTTP status; 0 if no response arrived."""
    code: str = ""
    type: str = ""
    parameter: str = ""
    message: str = ""
    """The provider's message, shortened and without credentials. It may hold contents: for the sealed journal only."""


def arguments(text: str) -> dict[str, object]:
    """Return the parsed arguments of a call.

    Raises ValueError if the text is not a JSON object; its message says what the text is instead.
    """
    if len(text) > ARGUMENTS_LIMIT:
        raise ValueError(f"longer than {ARGUMENTS_LIMIT} characters")
    try:
        value: object = _decoder.decode(clean(text))
        if "\\u" in text:
            # Raises for a lone surrogate, which JSON can escape and UTF-8 cannot carry.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if deeper_than(value, MAX_DEPTH):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, dict):
        raise ValueError("no JSON object")  # noqa: TRY004
    return cast(dict[str, object], value)


def resolved_call(ask: ToolAsk) -> ToolAsk:
    """Return the call that `call_tool` names. Return any other call, and an unreadable `call_tool`, unchanged."""
    if ask.tool != CALL_TOOL:
        return ask
    fields = ask.parsed
    if fields is None:
        return ask
    match fields:
        case {"name": str(name), "arguments": str(text)} if len(fields) == 2:
            call_arguments = text
        case {"name": str(name), "arguments": dict()} if len(fields) == 2:
            call_arguments = json.dumps(fields["arguments"], ensure_ascii=False)
        case {"name": str(name)} if len(fields) == 1:
            call_arguments = "{}"
        case _:
            return ask
    if name == CALL_TOOL:
        return ask
    return ToolAsk(id=ask.id, tool=name, arguments=call_arguments)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object from pairs. Raises ValueError for a repeated key, because its value is ambiguous."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is repeated")
    return value


_decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=_distinct)


def system(text: str) -> bytes:
    """Return the system message of a conversation."""
    return encode({"role": "system", "content": text})


def user(text: str, media: Sequence[Media] = ()) -> bytes:
    """Return a user message with text and media."""
    if media:
        content = [{"type": "text", "text": text}, *map(_part, media)]
    else:
        content = text
    return encode({"role": "user", "content": content})


def _part(media: Media) -> dict[str, object]:
    url = f"data:{media.media_type};base64,{media.data}"
    if media.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if media.pages:
        name = f"{media.file} ({media.pages} pages).pdf"
    else:
        name = f"{media.file}.pdf"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def assistant(text: str, asks: tuple[ToolAsk, ...], extra: str = "", by: Mapping[str, str] | None = None) -> bytes:
    """Return an assistant message with text, tool calls and the further fields that the provider expects back.

    `by` names the format and the model that these fields belong to; without it, every model gets them.
    """
    message: dict[str, object] = {"content": text or None, **_object(extra), "role": "assistant"}
    if asks:
        message["tool_calls"] = [
            {
                **_object(ask.extra),
                "id": ask.id,
                "type": "function",
                "function": {"name": ask.tool, "arguments": ask.arguments},
            }
            for ask in asks
        ]
    if by and (extra or any(ask.extra for ask in asks)):
        message[BY] = by
    return encode(message)


def _object(text: str) -> Mapping[str, object]:
    if text:
        return as_object(json.loads(text))
    return {}


def tool(ask_id: str, text: str) -> bytes:
    """Return the message with the result of one tool call."""
    return encode({"role": "tool", "tool_call_id": ask_id, "content": text})
