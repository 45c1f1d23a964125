"""A model behind an OpenAI-compatible endpoint, asked with bytes we made ourselves.

The SDK's client brings authentication, timeouts and errors; its transform of the request, which rewrites the
whole history on every call, is passed by: the body is ours, byte for byte. Its retries are off.
"""

import asyncio
import re
from dataclasses import replace
from typing import cast

import httpx2
from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream

from gofer.models.completion import parse_answer
from gofer.models.error_bodies import provider_error
from gofer.models.failures import failed
from gofer.models.language_model import DEPLOYED, Access, Answer, Unavailable, Unusable
from gofer.values.messages import ProviderError
from gofer.values.secret import Secret

ANSWER_BYTES = 10_000_000
"""Bytes of an answer that are read at most."""

# Not compressed: what is read is what is limited.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


class OpenAIModel:
    """A model behind the SDK's async client."""

    def __init__(self, client: AsyncOpenAI, at: Access = DEPLOYED) -> None:
        self._client = client
        self._at = replace(at, key=Secret(client.api_key))

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """See Model.ask."""
        try:
            # The SDK's timeout is for each read; this one is for the whole exchange.
            async with asyncio.timeout(timeout):
                raw = await self._exchange(body, timeout)
        except TimeoutError as error:
            text = f"The model did not answer within {timeout:.0f} seconds."
            raise Unavailable(text, ProviderError("unreachable")) from error
        except APIStatusError as error:
            said = provider_error(error.status_code, error.response.content, self._client.api_key)
            raise failed(said, self._at, retry_after=_seconds(error.response)) from error
        except (APIError, httpx2.HTTPError, OSError) as error:
            raise failed(ProviderError("unreachable"), self._at) from error
        return parse_answer(raw, self._at)

    async def _exchange(self, body: bytes, timeout: float) -> bytes:
        """Return the body of the answer.

        Raises Unusable when it is too large, and what the SDK and its client raise.
        """
        posted = await self._client.post(
            "/chat/completions",
            content=body,
            cast_to=httpx2.Response,
            options={"headers": _HEADERS, "timeout": timeout, "max_retries": 0},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        # Asked for as a stream and cast to a response, it is the response with a body that has yet to be read.
        response = cast(httpx2.Response, posted)
        try:
            return await _read(response, self._at)
        finally:
            await response.aclose()


async def _read(response: httpx2.Response, at: Access) -> bytes:
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        raw += chunk
        if len(raw) > ANSWER_BYTES:
            raise Unusable(f"The model's answer was larger than {ANSWER_BYTES} bytes; check {at.url_setting}.")
    return bytes(raw)


def _seconds(response: httpx2.Response) -> float:
    """Return how long a provider asks to wait.

    It gives seconds; a date is as good as nothing, our own pause is used then.
    """
    asked = response.headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", asked):
        return float(asked)
    return 0.0
