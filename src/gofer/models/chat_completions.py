"""A model behind an OpenAI-compatible endpoint, asked with the exact bytes that Gofer encoded.

Requests go to the shared HTTP client. An SDK would encode the whole history anew on every call, and repeat requests by
rules of its own.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import httpx2
from typing_extensions import override

from gofer.models.answer_text import AnswerText, split_thoughts
from gofer.models.failures import error_in, failed, provider_error
from gofer.models.language_model import DEPLOYED, Access, Answer, Model, RemoteModel, Unavailable, Unusable
from gofer.models.stream import completion_of, is_stream
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError, ToolAsk, Usage

TEXT_LIMIT = 200_000
"""Characters that are kept of an answer's text, and of its thoughts."""
MOST_CALLS = 128
"""Tool calls of an answer that are kept."""
EXTRA_LIMIT = 400_000
"""Largest extra fields that are kept for the provider, in characters of JSON."""
_NAME_LIMIT = 200
"""Characters that are kept of a name: of a model, its configuration, a finish reason, an id or a tool."""
_MOST_TOKENS = 10**9
# Some providers refuse a history in which a tool call lacks its thoughts or their signature.
_THOUGHTS = ("reasoning_content", "reasoning_details")
_SIGNATURES = ("extra_content",)
_MALFORMED = re.compile("malformed_(function|tool)_call|unexpected_tool_call", re.IGNORECASE)


def parse_answer(raw: bytes, at: Access = DEPLOYED) -> Answer:
    """Return the answer in the body of a Chat Completions response, in one piece or streamed.

    `at` is the endpoint that sent it. Raises Unusable for a body that is no answer, and the error of `failed` for an
    error that the provider sent in place of an answer.
    """
    body = _body(raw, at)
    choices = as_list(body.get("choices"))
    if not choices:
        raise Unusable(f"The model's answer held no choices; check {at.url_setting} and the model's name.")
    choice = as_object(choices[0])
    message = as_object(choice.get("message"))
    calls = as_list(message.get("tool_calls"))[:MOST_CALLS]
    finish = _finish(choice, message, calls)
    if finish == "error":
        raise failed(error_in(choice, 200, at.key.reveal()) or ProviderError("busy"), at)
    if _MALFORMED.search(finish) and not calls and not message.get("content"):
        raise failed(ProviderError("bad_sample", code="malformed_function_call"), at)
    if finish == "function_call":
        calls = [{"function": message["function_call"]}]
    asks = tuple(_ask(as_object(call), cut=finish == "length") for call in calls)
    text = _answer_text(message)
    extra = _extra(message, _THOUGHTS)
    content = as_text(message.get("content"))
    if text.thoughts and asks and content and not extra:
        # A model continues its thoughts between calls, so its provider gets them back at the same place in the text.
        extra = _kept({"content": content})
    thoughts = ""
    if not extra:
        thoughts = text.thoughts or as_text(message.get("reasoning"))
    return Answer(
        text=text.text[:TEXT_LIMIT],
        asks=asks,
        finish=finish,
        model=as_text(body.get("model"))[:_NAME_LIMIT],
        usage=_usage(as_object(body.get("usage"))),
        extra=extra,
        thoughts=thoughts[:TEXT_LIMIT],
        fingerprint=as_text(body.get("system_fingerprint"))[:_NAME_LIMIT],
    )


def _body(raw: bytes, at: Access) -> Mapping[str, object]:
    if is_stream(raw):
        return completion_of(raw, at)
    try:
        value = decode(raw)
    except BadRequest as error:
        raise Unusable(f"The model's answer was not JSON; check {at.url_setting}.") from error
    body = as_object(value)
    if not body.get("choices") and (error := error_in(value, 200, at.key.reveal())):
        raise failed(error, at)
    return body


def _finish(choice: Mapping[str, object], message: Mapping[str, object], calls: Sequence[object]) -> str:
    if as_text(message.get("refusal")):
        return "refusal"
    if as_object(message.get("function_call")) and not calls:
        return "function_call"
    if choice.get("error"):
        return "error"
    finish = as_text(choice.get("finish_reason"))[:_NAME_LIMIT] or "stop"
    if finish.startswith("content_filter"):
        # Gemini's compatible endpoint appends the reason to the name.
        return "content_filter"
    return finish


def _ask(call: Mapping[str, object], *, cut: bool) -> ToolAsk:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    text = as_text(arguments)
    if arguments is not None and not isinstance(arguments, str):
        text = encode_text(arguments)
    if not text and not cut:
        # Missing arguments mean that there are none, unless the answer was cut off before them.
        text = "{}"
    return ToolAsk(
        id=as_text(call.get("id"))[:_NAME_LIMIT],
        tool=as_text(function.get("name"))[:_NAME_LIMIT],
        arguments=text,
        extra=_extra(call, _SIGNATURES),
    )


def _extra(message: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the fields that the provider needs back unchanged, as a JSON object; empty if there are none."""
    return _kept({name: message[name] for name in names if message.get(name)})


def _kept(fields: Mapping[str, object]) -> str:
    """Return fields of a message as JSON; empty if there are none, or if they exceed EXTRA_LIMIT."""
    text = encode_text(fields)
    if fields and len(text) <= EXTRA_LIMIT:
        return text
    return ""


def _answer_text(message: Mapping[str, object]) -> AnswerText:
    """Return the text and the thoughts of an answer; some servers send both as a list of parts."""
    if refusal := as_text(message.get("refusal")):
        return AnswerText(refusal)
    content = message.get("content")
    parts = list(map(as_object, as_list(content)))
    text = split_thoughts(as_text(content) or "".join(as_text(part.get("text")) for part in parts))
    thought = [as_text(as_object(piece).get("text")) for part in parts for piece in as_list(part.get("thinking"))]
    return AnswerText(text.text, text.thoughts or "".join(thought))


def _usage(usage: Mapping[str, object]) -> Usage:
    read = _count(usage.get("prompt_tokens"))
    cached = _count(as_object(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(
        input_tokens=read, output_tokens=_count(usage.get("completion_tokens")), cached_tokens=min(cached, read)
    )


def _count(value: object) -> int:
    """Return a plausible token count; 0 for any other value."""
    if type(value) is int and 0 <= value <= _MOST_TOKENS:
        return value
    return 0


ANSWER_BYTES = 10_000_000
"""Largest answer, in bytes."""
ERROR_BYTES = 100_000
"""Bytes that are read of an error in place of an answer."""

_HEADERS = {
    "Accept": "application/json",
    # An uncompressed answer, so that ANSWER_BYTES limits the bytes that arrive.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "gofer",
}
_NO_TIMEOUTS = {"timeout": httpx2.Timeout(None).as_dict()}
"""The extensions of a request for which the client sets no timers. Without them, the client would use its default."""


@dataclass(frozen=True, slots=True)
class OpenAIModel(RemoteModel):
    """A model behind an OpenAI-compatible endpoint."""

    http: httpx2.AsyncClient
    url: httpx2.URL
    """The URL of the endpoint's Chat Completions."""
    headers: httpx2.Headers = field(repr=False)
    """The headers of each request, with the key; encoded once."""
    at: Access

    @override
    def within(self, traceparent: str) -> Model:
        headers = httpx2.Headers(self.headers)
        headers["traceparent"] = traceparent
        return replace(self, headers=headers)

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        try:
            # The timeouts of the client are for each read and write, so there are none; this is for the whole exchange.
            async with asyncio.timeout(timeout):
                response = await self._exchange(body)
        except TimeoutError as error:
            text = f"The model did not answer within {timeout:.0f} seconds."
            raise Unavailable(text, ProviderError("unreachable")) from error
        except httpx2.InvalidURL as error:
            raise failed(ProviderError("no_endpoint"), self.at) from error
        except (httpx2.HTTPError, OSError) as error:
            raise failed(ProviderError("unreachable"), self.at) from error
        if not response.is_success:
            reported = provider_error(response.status_code, response.content, self.at.key.reveal())
            raise failed(reported, self.at, retry_after=response.retry_after)
        return parse_answer(response.content, self.at)

    async def _exchange(self, body: bytes) -> "_Response":
        """Return the response. Raises Unusable when its body is too large, and the errors of the HTTP client."""
        # Not `build_request`, which merges the headers and cookies of the client into each request.
        request = httpx2.Request("POST", self.url, content=body, headers=self.headers, extensions=_NO_TIMEOUTS)
        response = await self.http.send(request, stream=True)
        try:
            if response.is_success:
                content = await _read(response, self.at)
            else:
                content = await _beginning(response)
        finally:
            await response.aclose()
        return _Response(response.status_code, response.is_success, content, _seconds(response))


@dataclass(frozen=True, slots=True)
class _Response:
    status_code: int
    is_success: bool
    content: bytes
    retry_after: float
    """The seconds that the provider asks to wait; 0 without such a header."""


def openai_model(
    http: httpx2.AsyncClient, base_url: str, at: Access = DEPLOYED, account: Mapping[str, str] = MappingProxyType({})
) -> OpenAIModel:
    """Return the model behind a base URL, such as `https://api.openai.com/v1`.

    `at` holds the key, which may be empty. `account` are headers that choose an account of the provider.
    """
    base = httpx2.URL(base_url)
    url = base.copy_with(path=f"{base.path.rstrip('/')}/chat/completions")
    headers = httpx2.Headers({**_HEADERS, **account})
    if at.key:
        headers["Authorization"] = f"Bearer {at.key.reveal()}"
    return OpenAIModel(http, url, headers, at)


async def _read(response: httpx2.Response, at: Access) -> bytes:
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        raw += chunk
        if len(raw) > ANSWER_BYTES:
            raise Unusable(f"The model's answer was larger than {ANSWER_BYTES} bytes; check {at.url_setting}.")
    return bytes(raw)


async def _beginning(response: httpx2.Response) -> bytes:
    """Return the first ERROR_BYTES of the body of an error."""
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        raw += chunk
        if len(raw) > ERROR_BYTES:
            break
    return bytes(raw[:ERROR_BYTES])


def _seconds(response: httpx2.Response) -> float:
    """Return the seconds that a provider asks to wait; 0 if it names none, or a date."""
    asked = response.headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", asked):
        return float(asked)
    return 0.0
