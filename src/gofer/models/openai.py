"""How is an OpenAI-compatible endpoint asked with bytes we made ourselves?

The SDK's client brings authentication, timeouts and errors; its transform of the request, which rewrites the
whole history on every call, is passed by: the body is ours, byte for byte. Its retries are off. Nothing that comes back
is taken for what it should be: sizes are limited, and a part of another shape counts as not there.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import cast

import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream, AuthenticationError

from gofer.canonical import as_list, as_object, as_text, decode, encode_text
from gofer.errors import BadRequest, RunStopped, TemporaryError
from gofer.messages import ToolAsk, Usage
from gofer.models.model import Answer, Unusable

ANSWER_BYTES = 10_000_000
"""Bytes of an answer that are read at most."""
TEXT_LIMIT = 200_000
"""Characters of an answer's text that are kept."""
MOST_CALLS = 128
"""Tool calls of an answer that are kept."""
_NAME_LIMIT = 200
"""Characters of a name that are kept: of a model, a reason for stopping, an id, a tool."""

EXTRA_LIMIT = 400_000
"""Characters that are kept of what a provider wants to see again."""
TOO_LARGE = (
    "The model takes no request as large as this one (HTTP {}); set context.window of the workflow to the tokens that "
    "it takes."
)
_LARGE = re.compile("context.?(length|window|size)|too (long|large|many tokens)|maximum context", re.IGNORECASE)
# Thoughts, and signatures of thoughts: some providers refuse a history with a tool call that comes without its own.
_THOUGHTS = ("reasoning_content", "reasoning_details")
_SIGNATURES = ("extra_content",)

# Not compressed: what is read is what is limited.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_MOST_TOKENS = 10**9


class OpenAIModel:
    """A model behind the SDK's async client."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """See Model.ask."""
        try:
            # The SDK's timeout is for each read; this one is for the whole exchange.
            async with asyncio.timeout(timeout):
                raw = await self._exchange(body, timeout)
        except TimeoutError as error:
            raise TemporaryError(f"The model did not answer within {timeout:.0f} seconds; try again.") from error
        except AuthenticationError as error:
            raise RunStopped("The model's provider does not accept the API key; check OPENAI_API_KEY.") from error
        except APIStatusError as error:
            if _too_large(error):
                raise RunStopped(TOO_LARGE.format(error.status_code)) from error
            raise _status_error(error.status_code, error.response.headers.get("retry-after", "")) from error
        except (APIError, httpx2.HTTPError, OSError) as error:
            raise TemporaryError("The model could not be reached; try again in a minute.") from error
        return parse_answer(raw)

    async def _exchange(self, body: bytes, timeout: float) -> bytes:
        """The body of the answer. Raises Unusable when it is too large, and what the SDK and its client raise."""
        posted = await self._client.post(
            "/chat/completions",
            content=body,
            cast_to=httpx2.Response,
            options={"headers": _HEADERS, "timeout": timeout, "max_retries": 0},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        # Asked for as a stream and cast to a response, it is the response whose body has yet to be read.
        response = cast(httpx2.Response, posted)
        try:
            return await _read(response)
        finally:
            await response.aclose()


async def _read(response: httpx2.Response) -> bytes:
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        raw += chunk
        if len(raw) > ANSWER_BYTES:
            raise Unusable(f"The model's answer was larger than {ANSWER_BYTES} bytes; check OPENAI_BASE_URL.")
    return bytes(raw)


def parse_answer(raw: bytes) -> Answer:
    """The answer in the body of a Chat Completions response. Raises Unusable for anything else."""
    try:
        body = as_object(decode(raw))
    except BadRequest as error:
        raise Unusable("The model's answer was not JSON; check OPENAI_BASE_URL.") from error
    choices = as_list(body.get("choices"))
    if not choices:
        raise Unusable("The model's answer held no choices; check OPENAI_BASE_URL and the model's name.")
    choice = as_object(choices[0])
    message = as_object(choice.get("message"))
    refusal = as_text(message.get("refusal"))
    finish = "refusal" if refusal else as_text(choice.get("finish_reason"))[:_NAME_LIMIT] or "stop"
    calls = as_list(message.get("tool_calls"))[:MOST_CALLS]
    return Answer(
        text=(refusal or _text(message.get("content")))[:TEXT_LIMIT],
        asks=tuple(_ask(as_object(call), cut=finish == "length") for call in calls),
        finish=finish,
        model=as_text(body.get("model"))[:_NAME_LIMIT],
        usage=_usage(as_object(body.get("usage"))),
        extra=_extra(message, _THOUGHTS),
    )


def _ask(call: Mapping[str, object], *, cut: bool) -> ToolAsk:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    # Left out means none; but where an answer was cut, they may just not have come any more.
    text = as_text(arguments) if isinstance(arguments, str) else "" if arguments is None else encode_text(arguments)
    return ToolAsk(
        id=as_text(call.get("id"))[:_NAME_LIMIT],
        tool=as_text(function.get("name"))[:_NAME_LIMIT],
        arguments=text or ("" if cut else "{}"),
        extra=_extra(call, _SIGNATURES),
    )


def _extra(said: Mapping[str, object], names: Sequence[str]) -> str:
    """What has to be sent again as it came, as a JSON object; empty for nothing, and for more than anybody needs."""
    kept = encode_text({name: said[name] for name in names if said.get(name)})
    return kept if kept != "{}" and len(kept) <= EXTRA_LIMIT else ""


def _text(content: object) -> str:
    """The text of an answer; some servers send it as a list of parts."""
    parts = [as_text(as_object(part).get("text")) for part in as_list(content)]
    return as_text(content) or "".join(parts)


def _usage(usage: Mapping[str, object]) -> Usage:
    read = _count(usage.get("prompt_tokens"))
    cached = _count(as_object(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(read, _count(usage.get("completion_tokens")), min(cached, read))


def _count(value: object) -> int:
    """A plausible token count; anything else a provider may send counts as nothing."""
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _too_large(error: APIStatusError) -> bool:
    """Whether a request was refused for its size, as far as providers say so."""
    return error.status_code == 413 or (
        error.status_code == 400 and bool(_LARGE.search(f"{error.code} {error.message}"))
    )


def _status_error(status: int, retry_after: str) -> TemporaryError | RunStopped:
    if status in (408, 409, 429) or status >= 500:
        text = f"The model's provider is busy or failing (HTTP {status}); try again in a minute."
        # Providers give seconds; a date is as good as nothing, our own pause is used then.
        seconds = float(retry_after) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", retry_after) else 0.0
        return TemporaryError(text, retry_after=seconds)
    if status < 400:
        return RunStopped(f"The model's provider sent a redirect (HTTP {status}); check OPENAI_BASE_URL.")
    return RunStopped(f"The model's provider refused the request (HTTP {status}); check the model's name and limits.")
