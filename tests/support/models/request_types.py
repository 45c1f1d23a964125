"""The request types of the vendors' SDKs as strict validators: every field is known, and every list is read.

The packages declare their types for static checks. Read by pydantic as they are, they ignore unknown fields and do not
look into lists.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import BaseModel, TypeAdapter
from pydantic_core import SchemaValidator, ValidationError

from gofer.values.messages import Api

_REQUESTS: Mapping[Api, type[Any]] = {
    "chat_completions": CompletionCreateParamsNonStreaming,
    "responses": ResponseCreateParamsNonStreaming,
    "messages": MessageCreateParamsNonStreaming,
}
_ANSWERS: Mapping[Api, type[BaseModel]] = {
    "chat_completions": ChatCompletion,
    "responses": Response,
    "messages": Message,
}


def unlike_the_types(request: object, api: Api) -> list[str]:
    """Return what the SDK's type of a request does not allow, as `place: why`; empty for a request that it allows."""
    try:
        _validator(api).validate_python(request, strict=True)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return []


def read_by_the_sdk(body: object, api: Api) -> BaseModel:
    """Return the answer in a body as the SDK reads it. Raises ValidationError."""
    return _ANSWERS[api].model_validate(body)


@cache
def _validator(api: Api) -> SchemaValidator:
    return SchemaValidator(_closed(TypeAdapter(_REQUESTS[api]).core_schema))


def _closed(schema: Any) -> Any:
    """Return a core schema whose objects allow no other fields, and whose iterables are lists."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: value if name == "metadata" else _closed(value) for name, value in schema.items()}
    match closed.get("type"):
        case "typed-dict":
            return {**closed, "extra_behavior": "forbid"}
        case "generator":
            return {**closed, "type": "list"}
        case "model":
            # An answer's own class, which a request in JSON never holds. Not strict, it would take any field.
            return {**closed, "strict": True}
        case _:
            return closed
