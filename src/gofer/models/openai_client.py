"""The client of the `openai` package, which sends only the headers and bytes that it is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit, RequestOptions
from typing_extensions import override

from gofer.models.transport import Headers, Plain, Transport

_UNSENT = {name: Omit() for name in ("Authorization", "X-Stainless-Retry-Count", "X-Stainless-Read-Timeout")}
"""Headers that the client adds to each request that does not leave them out."""

_OPTIONS: RequestOptions = {
    "security": {},
    "max_retries": 0,
    "timeout": None,
    "follow_redirects": False,
    # What a request does not use is said too, because the package spends time on each missing option.
    "params": {},
    "idempotency_key": "",
    "synthesize_event_and_data": False,
    "stream_mode": "legacy",
}
"""The options of every request. The key of idempotency is for repeated requests, and no request is repeated."""


def openai_client(plain: Plain) -> Transport:
    """Return the client of the package over the HTTP client of the process."""
    # Each argument that the package would read from the environment is given.
    client = _Client(
        api_key="",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url="",  # Each request names its whole URL.
        timeout=None,
        max_retries=0,
        http_client=_Sender(plain),
    )
    return _OpenAI(client)


class _Client(AsyncOpenAI):
    """The client without its own headers: those about the machine, and those of OPENAI_CUSTOM_HEADERS."""

    @property
    @override
    def default_headers(self) -> dict[str, str | Omit]:
        return {}


@dataclass(frozen=True, slots=True)
class _OpenAI(Transport):
    """The client as a transport."""

    client: AsyncOpenAI

    @override
    async def load(self) -> None:
        """Return at once, because this module is loaded."""

    @override
    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        try:
            return await self.client.post(
                url,
                cast_to=httpx2.Response,
                content=body,
                options={**_OPTIONS, "headers": {**_UNSENT, **headers}},
            )
        except APIStatusError as error:
            return error.response
        except APIConnectionError as error:
            raise httpx2.TransportError(str(error)) from error


class _Sender(httpx2.AsyncClient):
    """The HTTP client of the package, which sends over that of the process."""

    def __init__(self, plain: Plain) -> None:
        # A transport that sends nothing, so that no certificates are read a second time.
        super().__init__(transport=httpx2.AsyncBaseTransport(), trust_env=False)
        self._plain = plain
        self._url = cache(httpx2.URL)

    @override
    def build_request(
        self, method: str, url: httpx2.URL | str, *, content: object = None, headers: object = None, **_: object
    ) -> httpx2.Request:
        return self._plain.request(self._url(url), cast(Headers, headers), cast(bytes, content))

    @override
    async def send(
        self, request: httpx2.Request, *, stream: bool = False, auth: object = None, follow_redirects: object = None
    ) -> httpx2.Response:
        """Send a request. The body of an answer is read elsewhere, where its size and its silences are limited."""
        return await self._plain.send(request)
