"""The client of GitHub's REST API, with refusals explained for models."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from gofer.sources.github.refusals import REFUSALS
from gofer.sources.github.shown_text import one_line
from gofer.sources.limited_requests import Pause, object_in, send_patiently, wait_sentence
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode
from gofer.values.errors import BadRequest, TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

VERSION = "2022-11-28"
"""The version of the API in each request. Gofer uses no field that a later version dropped."""
PER_PAGE = 100
"""Entries per page of a list."""
PAGES = 10
"""The most pages of one list."""
REDIRECTS = 2
"""The most redirects in a row, which GitHub sends for renamed repositories."""
_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')
_CODES = {400: "bad_request", 401: "bad_credentials", 403: "forbidden", 404: "not_found", 409: "conflict", 410: "gone"}


class GitHubRefusal(ToolError):
    """A refusal by GitHub. The call had no effect, and `code` is one of `refusals.REFUSALS` or the HTTP status."""

    def __init__(self, code: str, hint: str = "", *, retry_after: float = 0.0) -> None:
        sentence = f"GitHub refused it ({code}). {REFUSALS.of(code).sentence} {hint}".rstrip()
        super().__init__(sentence, code=code, retry_after=retry_after, access=REFUSALS.access(code))


@dataclass(frozen=True, slots=True)
class GitHubApi:
    """GitHub's address and Gofer's token."""

    base_url: str
    """The base URL without a slash at the end, such as `https://api.github.com`."""
    token: Secret
    pause: Pause = asyncio.sleep

    @property
    def web_host(self) -> str:
        """Return the host of the web pages."""
        parts = urlsplit(self.base_url)
        own = parts.path.rstrip("/").endswith("/api/v3")
        if own:
            return parts.hostname or ""
        return "github.com"

    async def read(self, call: Call, path: str, /, **query: str | int) -> object:
        """Return the JSON at a path. Raises GitHubRefusal, TemporaryError."""
        return _json(await self._send(call, "GET", self._url(path, query)))

    async def read_object(self, call: Call, path: str) -> Mapping[str, object]:
        """Return the JSON object at a path. Raises GitHubRefusal, TemporaryError."""
        found = as_object(await self.read(call, path))
        if not found:
            raise TemporaryError("GitHub's answer lacks the requested object.")
        return found

    async def read_list(self, call: Call, path: str, /, **query: str | int) -> AsyncIterator[Mapping[str, object]]:
        """Yield all entries of a list. When the iterator ends, there are no further entries.

        Raises ToolError for a list with more than PAGES pages, and GitHubRefusal, TemporaryError.
        """
        url = self._url(path, {"per_page": PER_PAGE, **query})
        for _ in range(PAGES):
            response = await self._send(call, "GET", url)
            for item in as_list(_json(response)):
                yield as_object(item)
            following = _NEXT.search(response.headers.get("link", ""))
            if not following:
                return
            url = self._within(following[1])
        message = f"GitHub lists more than {PER_PAGE * PAGES} entries; that is too many to look through."
        raise ToolError(message, code="too_many")

    async def write(self, call: Call, path: str, /, **fields: object) -> Mapping[str, object]:
        """Post JSON and return the answer.

        Raises GitHubRefusal if the call had no effect, and TemporaryError if it may have had one.
        """
        written = as_object(_json(await self._send(call, "POST", self._url(path, {}), encode(fields))))
        if not written:
            raise TemporaryError("GitHub did not confirm what it wrote.")
        return written

    async def _send(self, call: Call, method: str, url: str, content: bytes = b"") -> HttpResponse:
        """Return a successful answer, after redirects of renamed repositories and waits for rate limits."""
        if not self.token:
            raise _refused("no_token")
        for _ in range(REDIRECTS + 1):
            request = HttpRequest(method, url, self._headers(), content)
            response = await send_patiently(
                call.http, request, self.pause, lambda answer: _wait(answer, call.clock.now())
            )
            if response.status not in (301, 302, 307, 308):
                return _accepted(response, call.clock.now())
            # GitHub did not execute a redirected request, so sending it to the new address is always safe.
            url = self._within(response.headers.get("location", ""))
        raise ToolError("GitHub redirected Gofer too often; nothing was done.", code="redirected")

    def _headers(self) -> Mapping[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token.reveal()}",
            "Content-Type": "application/json",
            "User-Agent": "gofer",
            "X-GitHub-Api-Version": VERSION,
        }

    def _url(self, path: str, query: Mapping[str, str | int]) -> str:
        return self.base_url + path + (f"?{urlencode(query)}" if query else "")

    def _within(self, url: str) -> str:
        """Return an address from GitHub if it may get Gofer's token. Raises ToolError for any other address."""
        if not url.startswith(self.base_url + "/"):
            raise ToolError("GitHub named an address that is not its own; nothing was done.", code="redirected")
        return url


def _accepted(response: HttpResponse, now: float) -> HttpResponse:
    if 200 <= response.status < 300:
        return response
    if response.status >= 500:
        message = f"GitHub did not answer properly (HTTP {response.status})."
        raise TemporaryError(message, retry_after=response.retry_after)
    if _limited(response):
        seconds = _seconds(response, now)
        raise GitHubRefusal("rate_limited", wait_sentence(seconds), retry_after=seconds)
    if response.status == 403 and _lacks_permission(response):
        needed = one_line(response.headers.get("x-accepted-github-permissions", ""))
        raise _refused("missing_permission", f"GitHub requires {needed}." if needed else "")
    if response.status == 422:
        raise _refused("validation_failed", f"GitHub says: {_own_words(response)}")
    hint = f"GitHub says: {_own_words(response)}" if response.status == 403 else ""
    raise _refused(_CODES.get(response.status, f"HTTP {response.status}"), hint)


def _refused(code: str, hint: str = "") -> GitHubRefusal:
    REFUSALS.log(code, f"GitHub refuses Gofer ({code}): {REFUSALS.of(code).sentence} {hint}".rstrip())
    return GitHubRefusal(code, hint)


def _limited(response: HttpResponse) -> bool:
    """Return whether an answer is a rate limit. GitHub sends some as 429, and some as 403 like a missing permission."""
    if response.status not in (403, 429):
        return False
    exhausted = "retry-after" in response.headers or response.headers.get("x-ratelimit-remaining") == "0"
    return response.status == 429 or exhausted or "rate limit" in _message(response).lower()


def _wait(response: HttpResponse, now: float) -> float | None:
    if _limited(response):
        return _seconds(response, now)
    return None


def _seconds(response: HttpResponse, now: float) -> float:
    """Return the seconds that GitHub asks to wait, at least one; infinity when it names no time."""
    reset = response.headers.get("x-ratelimit-reset", "inf")
    spent = response.headers.get("x-ratelimit-remaining") == "0"
    try:
        return max(1.0, float(response.headers.get("retry-after") or (float(reset) - now if spent else math.inf)))
    except ValueError:
        return math.inf


def _lacks_permission(response: HttpResponse) -> bool:
    message = _message(response).lower()
    return any(word in message for word in ("not accessible", "saml", "must have admin rights", "oauth app access"))


def _message(response: HttpResponse) -> str:
    return as_text(object_in(response).get("message"))


def _own_words(response: HttpResponse) -> str:
    """Return GitHub's own error messages on one line."""
    errors = [as_text(error) or _error_text(as_object(error)) for error in as_list(object_in(response).get("errors"))]
    return one_line(" ".join(filter(None, [_message(response), *errors])), 400)


def _error_text(error: Mapping[str, object]) -> str:
    message = as_text(error.get("message"))
    return message or " ".join(filter(None, (as_text(error.get("field")), as_text(error.get("code")))))


def _json(response: HttpResponse) -> object:
    try:
        return decode(response.body)
    except BadRequest as error:
        raise TemporaryError("GitHub did not answer in JSON.") from error
