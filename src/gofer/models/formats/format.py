"""The interface of a format, and the choice of one for an endpoint.

The engine, the journal and the replay know one shape of a request, the neutral one: `{params, tools, "messages": […]}`
with messages as in Chat Completions. A format translates it to the bytes that its vendor reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from gofer.models.language_model import Access, Answer
from gofer.values.canonical_json import as_list, as_object, encode_text
from gofer.values.messages import BY, Api

_VENDORS: Mapping[str, Sequence[Api]] = {
    "api.openai.com": ("responses", "chat_completions"),
    "api.anthropic.com": ("messages",),
}
"""The formats that each vendor speaks whole at its own host, its native one first. Every other server is asked by Chat
Completions."""
_NEUTRAL = ("role", "content", "tool_calls")
"""The keys of an answer in the history that every model reads."""
_NEUTRAL_CALL = ("id", "type", "function")

TEXT_LIMIT = 200_000
"""Characters that are kept of an answer's text, and of its thoughts."""
MOST_CALLS = 128
"""Tool calls of an answer that are kept."""
EXTRA_LIMIT = 1_000_000
"""Largest extra fields that are kept for the provider, in characters of JSON."""
NAME_LIMIT = 200
"""Characters that are kept of a name: of a model, its configuration, a finish reason, an id or a tool."""
_MOST_TOKENS = 10**9
_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties", "$defs"})
_VALUES = frozenset({"items", "enum", "const", "description", "title", "anyOf", "$ref", "pattern", "format"})
BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"})
"""The keywords of a schema that limit numbers and lengths."""
_SAYS = frozenset({"type", "anyOf", "$ref", "enum", "const"})
_STRICT_KEYS = _OBJECTS | _VALUES | BOUNDS
"""The keywords of a schema in strict mode. Source: "Structured model outputs" in the documentation of OpenAI."""


def count(value: object) -> int:
    """Return a plausible token count; 0 for any other value."""
    if type(value) is int and 0 <= value <= _MOST_TOKENS:
        return value
    return 0


def kept(fields: Mapping[str, object]) -> str:
    """Return fields for the provider as JSON; empty if there are none, or if they exceed EXTRA_LIMIT."""
    text = encode_text(fields)
    if fields and len(text) <= EXTRA_LIMIT:
        return text
    return ""


def is_strict(schema: Mapping[str, object]) -> bool:
    """Return whether a JSON Schema obeys the rules under which vendors hold an answer to it.

    Each of its objects lists every property as required and allows no other, and no keyword is unknown to them.
    """
    properties = as_object(schema.get("properties"))
    if not set(schema) <= _STRICT_KEYS or not _SAYS & set(schema) or ("$ref" in schema and len(schema) > 1):
        return False
    closed = schema.get("additionalProperties") is False and set(as_list(schema.get("required"))) == set(properties)
    if (schema.get("type") == "object" or properties) and not closed:
        return False
    inner = [*properties.values(), *as_object(schema.get("$defs")).values(), *as_list(schema.get("anyOf"))]
    if "items" in schema:
        inner.append(schema["items"])
    return all(map(is_strict, map(as_object, inner)))


def answer_form(request: Mapping[str, object]) -> Mapping[str, object]:
    """Return the form of an answer to the neutral parameter `output_schema`, in the words of OpenAI; empty without."""
    schema = as_object(request.get("output_schema"))
    if not schema:
        return {}
    strict = schema.get("type") == "object" and is_strict(schema)
    return {"name": "answer", "schema": schema, "strict": strict}


def native_api(base_url: str) -> Api:
    """Return the format of a base URL whose endpoint names none. The name of a model says nothing about it."""
    return _VENDORS.get(urlsplit(base_url).hostname or "", ("chat_completions",))[0]


def is_vendors_own(base_url: str, api: str) -> bool:
    """Return whether a base URL is a vendor's own, asked in a format that the vendor defines."""
    return api in _VENDORS.get(urlsplit(base_url).hostname or "", ())


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as its vendor reads it."""

    body: bytes
    stream: bool = False
    """Whether the request asks for a stream of events."""


class Format(Protocol):
    """One format of requests and answers. A run ends in the format in which it began."""

    @property
    def api(self) -> Api:
        """The name of the format."""
        ...

    @property
    def path(self) -> str:
        """The path after the base URL, such as `/chat/completions`."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry a key, which may be empty, and the version of the format."""
        ...

    def encode(self, body: bytes, by: str) -> Wire:
        """Return the bytes that the vendor reads, from a neutral request to the model `by`, named by `asked_at`."""
        ...

    def parse(self, raw: bytes, at: Access) -> Answer:
        """Return the answer in a body of status 200, in one piece or streamed.

        Raises Unusable for a body that is no answer, and the error of `failed` for an error in place of an answer.
        """
        ...


def is_own(message: Mapping[str, object], api: Api, by: str) -> bool:
    """Return whether an answer in the history came from this model in this format; then its thoughts go back."""
    maker = as_object(message.get(BY))
    return maker.get("api") == api and maker.get("model") == by


def neutral(message: Mapping[str, object]) -> Mapping[str, object]:
    """Return an answer in the history as any other model reads it, without the fields that belong to its maker."""
    kept = {name: value for name, value in message.items() if name in _NEUTRAL}
    calls: Sequence[object] = as_list(message.get("tool_calls"))
    if calls:
        kept["tool_calls"] = [
            {name: value for name, value in as_object(call).items() if name in _NEUTRAL_CALL} for call in calls
        ]
    return kept
