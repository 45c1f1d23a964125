"""How is an OpenAI-compatible endpoint asked with bytes we made ourselves?

The SDK's client brings authentication, timeouts and errors; its transform of the request, which rewrites the
whole history on every call, is passed by: the body is ours, byte for byte. Its retries are off.
"""

import asyncio
import re
from collections.abc import Mapping

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AuthenticationError

from gofer.canonical import as_list, as_object, as_text, decode, encode_text
from gofer.errors import BadRequest, RunStopped, TemporaryError
from gofer.messages import ToolAsk, Usage
from gofer.models.model import Answer

_JSON = {"Content-Type": "application/json"}
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
                response = await self._client.post(
                    "/chat/completions",
                    content=body,
                    cast_to=httpx2.Response,
                    options={"headers": _JSON, "timeout": timeout, "max_retries": 0},
                )
        except TimeoutError as error:
            raise TemporaryError(f"The model did not answer within {timeout:.0f} seconds; try again.") from error
        except AuthenticationError as error:
            raise RunStopped("The model's provider does not accept the API key; check OPENAI_API_KEY.") from error
        except APIStatusError as error:
            raise _status_error(error.status_code, error.response.headers.get("retry-after", "")) from error
        except APIConnectionError as error:
            raise TemporaryError("The model could not be reached; try again in a minute.") from error
        return parse_answer(response.content)


def parse_answer(raw: bytes) -> Answer:
    """The answer in the body of a Chat Completions response. Raises TemporaryError for anything else."""
    try:
        body = as_object(decode(raw))
    except BadRequest as error:
        raise TemporaryError("The model's answer was not JSON; try again.") from error
    choices = as_list(body.get("choices"))
    if not choices:
        raise TemporaryError("The model's answer was empty; try again.")
    choice = as_object(choices[0])
    message = as_object(choice.get("message"))
    return Answer(
        text=_text(message.get("content")) or as_text(message.get("refusal")),
        asks=tuple(_ask(as_object(call), index) for index, call in enumerate(as_list(message.get("tool_calls")))),
        finish=as_text(choice.get("finish_reason")) or "stop",
        model=as_text(body.get("model")),
        usage=_usage(as_object(body.get("usage"))),
    )


def _ask(call: Mapping[str, object], index: int) -> ToolAsk:
    function = as_object(call.get("function"))
    return ToolAsk(
        id=as_text(call.get("id")) or f"call_{index}",
        tool=as_text(function.get("name")),
        arguments=_arguments(function.get("arguments")),
    )


def _arguments(value: object) -> str:
    """The JSON text of a call's arguments; some servers send the object itself."""
    if value is None or value == "":
        return "{}"
    return as_text(value) if isinstance(value, str) else encode_text(value)


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


def _status_error(status: int, retry_after: str) -> TemporaryError | RunStopped:
    if status in (408, 409, 429) or status >= 500:
        text = f"The model's provider is busy or failing (HTTP {status}); try again in a minute."
        # Providers give seconds; a date is as good as nothing, our own pause is used then.
        seconds = float(retry_after) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", retry_after) else 0.0
        return TemporaryError(text, retry_after=seconds)
    if status < 400:
        return RunStopped(f"The model's provider sent a redirect (HTTP {status}); check OPENAI_BASE_URL.")
    return RunStopped(f"The model's provider refused the request (HTTP {status}); check the model's name and limits.")
