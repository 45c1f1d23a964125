"""The models behind an endpoint, asked over HTTP with the exact bytes that their format encoded."""

import asyncio
import hashlib
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import httpx2
from typing_extensions import override

from gofer.models.failures import failed, provider_error
from gofer.models.formats.chat_completions import ChatCompletions
from gofer.models.formats.format import Format, is_vendors_own, native_api
from gofer.models.formats.messages import Messages
from gofer.models.formats.responses import Responses
from gofer.models.language_model import DEPLOYED, Access, Answer, Refused, RemoteModel, Unavailable, Unusable
from gofer.models.transport import Packaged, Plain, Transport
from gofer.models.unreached import cause_of
from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.messages import ENDPOINT, Api, ProviderError, asked_at

FORMATS: Mapping[Api, Format] = {
    "responses": Responses(),
    "chat_completions": ChatCompletions(),
    "messages": Messages(),
}
"""Each format by its name."""
ANSWER_BYTES = 10_000_000
"""Largest answer, in bytes."""
STREAM_SECONDS = 3_600.0
"""Longest time of an answer that is read as it is written."""

_log = logging.getLogger(__name__)
_HEADERS = {
    "Accept": "application/json",
    # An uncompressed answer, so that ANSWER_BYTES limits the bytes that arrive.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "gofer",
}
_ADDED = re.compile(
    r"response_format|text\.format|output_config\.format|output_format|json_schema|structured output"
    r"|diagnostics|prompt_cache_options|comparison_response",
    re.IGNORECASE,
)
"""Words of vendors that refuse a parameter of `RemoteEndpoint.added`, which not all of their models take."""
_MODEL = re.compile(rb'"model":"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class RemoteEndpoint(RemoteModel):
    """The models behind one endpoint, asked in one format."""

    plain: Transport
    """Sends requests in the format of Messages."""
    packaged: Transport
    """Sends requests in the two formats of OpenAI."""
    base_url: str
    at: Access
    format: Format
    name: str = ""
    """The name of the endpoint; empty for the default one."""
    account: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """Headers of each request beside those of the format."""
    added: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """Neutral parameters that are added to each request at the vendor's own address."""

    @override
    def within(self, traceparent: str) -> "RemoteEndpoint":
        return replace(self, account={**self.account, "traceparent": traceparent})

    @override
    def using(self, api: str) -> "RemoteEndpoint":
        if api == self.format.api or api not in FORMATS:
            return self
        return replace(self, format=FORMATS[cast(Api, api)])

    @override
    def adding(self, fields: Mapping[str, object]) -> "RemoteEndpoint":
        return replace(self, added={**self.added, **fields})

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        by = self._by(body)
        if not self.added or not is_vendors_own(self.base_url, self.format.api):
            return await self._ask(body, by, timeout)
        began = asyncio.get_running_loop().time()
        try:
            return await self._ask(b"%b,%b" % (encode(self.added)[:-1], body[1:]), by, timeout)
        except Refused as error:
            if not _ADDED.search(f"{error.provider_error.parameter} {error.provider_error.message}"):
                raise
            # An older model lacks what the vendor has. A request without it has the same meaning.
            _log.warning("the model refuses %s and is asked without: %s", ", ".join(sorted(self.added)), error)
        return await self._ask(body, by, timeout - (asyncio.get_running_loop().time() - began))

    async def _ask(self, body: bytes, by: str, timeout: float) -> Answer:
        wire = self.format.encode(body, by)
        await self._transport.load()
        try:
            # The timeouts of the client are for each read and write, so there are none. This is for the whole exchange,
            # or in a stream for each silence.
            async with asyncio.timeout(timeout) as silence:
                response = await self._exchange(wire.body, _Patience(silence, timeout, wire.stream))
        except TimeoutError as error:
            text = f"The model did not answer within {timeout:.0f} seconds."
            raise Unavailable(text, ProviderError("unreachable")) from error
        except httpx2.InvalidURL as error:
            raise failed(ProviderError("no_endpoint"), self.at) from error
        except (httpx2.HTTPError, OSError) as error:
            text = f"The model could not be reached: {cause_of(error, self.base_url)}."
            raise Unavailable(text, ProviderError("unreachable")) from error
        if not response.is_success:
            reported = provider_error(response.status_code, response.content, self.at.key.reveal())
            raise failed(reported, self.at, retry_after=response.retry_after)
        answer = self.format.parse(response.content, self.at)
        return replace(answer, api=self.format.api, sent_sha256=hashlib.sha256(wire.body).hexdigest())

    def _by(self, body: bytes) -> str:
        """Return the model that a neutral request asks, as the history names its maker."""
        found = _MODEL.search(body)
        model = as_object(decode(b"{" + found[0] + b"}"))["model"] if found else ""
        return asked_at({"model": model, ENDPOINT: self.name})

    @property
    def _transport(self) -> Transport:
        return self.plain if self.format.api == "messages" else self.packaged

    async def _exchange(self, body: bytes, patience: "_Patience") -> "_Response":
        """Return the response. Raises Unusable when its body is too large, and the errors of the HTTP client."""
        headers = {**_HEADERS, **self.format.headers(self.at.key.reveal()), **self.account}
        response = await self._transport.post(_url(self.base_url, self.format.path), headers, body)
        try:
            content = await _read(response, self.at, patience)
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


def remote_endpoint(
    http: httpx2.AsyncClient,
    base_url: str,
    at: Access = DEPLOYED,
    account: Mapping[str, str] = MappingProxyType({}),
    *,
    name: str = "",
    api: str = "",
    packaged: bool = True,
) -> RemoteEndpoint:
    """Return the models behind a base URL, such as `https://api.openai.com/v1`.

    `at` holds the key, which may be empty. `account` are headers that choose an account of the provider. `api` names
    the format; empty means the native one of the URL. Unless `packaged`, no request is sent by the `openai` package.
    """
    chosen = cast(Api, api or native_api(base_url))
    plain = Plain(http)
    sender = Packaged(plain) if packaged else plain
    return RemoteEndpoint(plain, sender, base_url, at, FORMATS.get(chosen, FORMATS["chat_completions"]), name, account)


@lru_cache(maxsize=64)
def _url(base_url: str, path: str) -> str:
    """Return the URL of a format behind a base URL. Raises httpx2.InvalidURL."""
    base = httpx2.URL(base_url)
    return str(base.copy_with(path=f"{base.path.rstrip('/')}{path}"))


@dataclass(frozen=True, slots=True)
class _Patience:
    """The time limit of an exchange: an answer that is being written as a stream is not a dead one."""

    silence: asyncio.Timeout
    seconds: float
    stream: bool
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def note(self) -> None:
        """Begin the silence again, within STREAM_SECONDS from the start."""
        if self.stream:
            now = asyncio.get_running_loop().time()
            self.silence.reschedule(min(now + self.seconds, self.began + STREAM_SECONDS))


async def _read(response: httpx2.Response, at: Access, patience: _Patience) -> bytes:
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        patience.note()
        raw += chunk
        if len(raw) > ANSWER_BYTES:
            raise Unusable(f"The model's answer was larger than {ANSWER_BYTES} bytes; check {at.url_setting}.")
    return bytes(raw)


def _seconds(response: httpx2.Response) -> float:
    """Return the seconds that a provider asks to wait; 0 if it names none, or a date."""
    asked = response.headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", asked):
        return float(asked)
    return 0.0
