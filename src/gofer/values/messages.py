"""Messages to and from a model, and their bytes.

The bytes are those of an OpenAI-compatible Chat Completions request. A message is encoded once, when it
enters the conversation, and never again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from gofer.values.canonical_json import MAX_DEPTH, as_object, clean, deeper_than, encode, finite, refuse_constant

ARGUMENTS_LIMIT = 200_000
"""Characters of the arguments of one call that are read at most."""


@dataclass(frozen=True, slots=True)
class ToolAsk:
    """One tool call as the model asked for it. `arguments` is its own JSON text, not yet trusted."""

    id: str
    """The provider's id, empty when it sent none; ours is `<turn>.<index>`."""
    tool: str
    arguments: str
    extra: str = ""
    """What its provider wants to see again beside it, as a JSON object; empty for nothing."""


CALL_TOOL = "call_tool"
"""The tool that stands for those that a prompt does not list: it takes their `name` and their `arguments`."""


@dataclass(frozen=True, slots=True)
class Media:
    """What a model looks at beside text: an image, or a document that it reads by itself."""

    file: str
    """Id of the run's file that it is."""
    media_type: str
    data: str
    """Its bytes in base64."""
    pages: int = 0
    """Of a document, how many it has; 0 where they were not counted."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as its provider counted them. `cached_tokens` are part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


ENDPOINT = "endpoint"
"""The parameter with the endpoint of a model. It is recorded with a request and is no part of its bytes."""


def sent(params: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameters that a request holds."""
    return {name: value for name, value in params.items() if name != ENDPOINT}


def asked_at(params: Mapping[str, object]) -> str:
    """Return the model of recorded parameters, with its endpoint where that is not the default one."""
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
    "unknown_model",
    "unknown_parameter",
    "wrong_key",
    "no_endpoint",
    "busy",
    "unreachable",
    "refused",
]
"""Classes of failed requests to a model. `models/failures.py` says what a run does about each."""


@dataclass(frozen=True, slots=True)
class ProviderError:
    """What a provider said of a request that it did not answer."""

    failure: FailureClass
    status: int = 0
    """The HTTP status; 0 when no response came."""
    code: str = ""
    type: str = ""
    parameter: str = ""
    message: str = ""
    """The provider's own words, shortened and without credentials: contents, for the sealed journal."""


def arguments(text: str) -> dict[str, object]:
    """Return what a model wrote as the arguments of a call.

    Raises ValueError that says what they are instead of an object.
    """
    if len(text) > ARGUMENTS_LIMIT:
        raise ValueError(f"longer than {ARGUMENTS_LIMIT} characters")
    try:
        value: object = _decoder.decode(clean(text))
        if "\\u" in text:
            # Raises for half a character, which can be written as an escape and sent nowhere.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if deeper_than(value, MAX_DEPTH):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, dict):
        raise ValueError("no JSON object")  # noqa: TRY004
    return cast(dict[str, object], value)


def meant(ask: ToolAsk) -> ToolAsk:
    """Return the call that an ask is for: of `call_tool` the one that it names; one that names none stays as it is."""
    if ask.tool != CALL_TOOL:
        return ask
    try:
        told = arguments(ask.arguments)
    except ValueError:
        return ask
    match told:
        case {"name": str(name), "arguments": str(text)} if len(told) == 2:
            written = text
        case {"name": str(name), "arguments": dict()} if len(told) == 2:
            written = json.dumps(told["arguments"], ensure_ascii=False)
        case {"name": str(name)} if len(told) == 1:
            written = "{}"
        case _:
            return ask
    if name == CALL_TOOL:
        return ask
    return ToolAsk(id=ask.id, tool=name, arguments=written)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object from pairs with different keys; two values under one key are ambiguous."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice")
    return value


_decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=_distinct)


def system(text: str) -> bytes:
    """Return a message that tells the model who it is."""
    return encode({"role": "system", "content": text})


def user(text: str, media: Sequence[Media] = ()) -> bytes:
    """Return a message to the model from outside, with what it is to look at."""
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


def assistant(text: str, asks: tuple[ToolAsk, ...], extra: str = "") -> bytes:
    """Return what the model said, with the tool calls it asked for and what its provider wants to see again."""
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
    return encode(message)


def _object(text: str) -> Mapping[str, object]:
    if text:
        return as_object(json.loads(text))
    return {}


def tool(ask_id: str, text: str) -> bytes:
    """Return the outcome of one tool call, as the model reads it."""
    return encode({"role": "tool", "tool_call_id": ask_id, "content": text})
