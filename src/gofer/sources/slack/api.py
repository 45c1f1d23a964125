"""Calls of the Slack Web API, and the meaning of its refusals to a model."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from gofer.sources.access import tell_operator
from gofer.sources.slack.refusals import CREDENTIAL, refusal
from gofer.sources.slack.scopes import Method
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_object, as_text, decode, encode
from gofer.values.errors import Access, BadRequest, TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

LONGEST_WAIT = 15.0
"""Seconds one request is held back in all while Slack asks to wait; less than the time of a tool."""


class SlackRefusal(ToolError):
    """Slack said no, and nothing happened. `code` is its error code."""

    def __init__(self, method: str, code: str, hint: str = "", *, retry_after: float = 0.0) -> None:
        sentence = f"Slack refused {method} ({code}). {hint or refusal(code).sentence}"
        super().__init__(sentence, code=code, retry_after=retry_after, access=_access(code))


@dataclass(frozen=True, slots=True)
class SlackApi:
    """Where Slack is and who we are there."""

    base_url: str
    """With a slash at the end, as `https://slack.com/api/`."""
    token: Secret
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Returns after so many seconds."""

    async def read(self, call: Call, method: Method, **parameters: str | int) -> Mapping[str, object]:
        """Call a reading method, as a form. Raises SlackRefusal, TemporaryError."""
        return await self._send(call, method, "application/x-www-form-urlencoded", urlencode(parameters).encode())

    async def write(self, call: Call, method: Method, **parameters: object) -> Mapping[str, object]:
        """Call a writing method, as JSON. Raises SlackRefusal when it did not happen, TemporaryError when unclear."""
        return await self._send(call, method, "application/json; charset=utf-8", encode(parameters))

    async def _send(self, call: Call, method: str, media_type: str, content: bytes) -> Mapping[str, object]:
        headers = {"Authorization": f"Bearer {self.token.reveal()}", "Content-Type": media_type}
        request = HttpRequest("POST", self.base_url + method, headers, content)
        response = await call.http.send(request)
        waited = 0.0
        # A request that was limited did not happen, so that sending it again is safe whatever its effect.
        while response.status == 429 and (wait := _seconds(response)) <= LONGEST_WAIT - waited:
            await self.pause(wait)
            waited += wait
            response = await call.http.send(request)
        return _reply(method, response)


def _reply(method: str, response: HttpResponse) -> Mapping[str, object]:
    if response.status == 429:
        raise SlackRefusal(method, "ratelimited", _until(response), retry_after=_seconds(response))
    body = _body(response)
    if not body:
        said = f"Slack did not answer {method} properly (HTTP {response.status})."
        raise TemporaryError(said, retry_after=response.retry_after)
    if body.get("ok") is True:
        return body
    code = as_text(body.get("error")) or "unknown_error"
    rule = refusal(code)
    if rule.rule == "unclear":
        raise TemporaryError(f"Slack failed during {method} ({code}).")
    needed = as_text(body.get("needed"))
    hint = rule.sentence
    if needed:
        hint += f" The missing permission is {needed}."
    if rule.rule == "operate":
        tell_operator("slack", _access(code), code, f"Slack refuses {method} ({code}): {hint}")
    raise SlackRefusal(method, code, hint)


def _access(code: str) -> Access:
    if refusal(code).rule != "operate":
        return ""
    if code in CREDENTIAL:
        return "credential"
    return "permission"


def _seconds(response: HttpResponse) -> float:
    """Return how long Slack asks to wait, at least a second; for ever when it does not say."""
    try:
        return max(1.0, float(response.headers.get("retry-after", "inf")))
    except ValueError:
        return math.inf


def _until(response: HttpResponse) -> str:
    seconds = _seconds(response)
    wait = f"{math.ceil(seconds)} second{'s' * (seconds > 1)}" if seconds < math.inf else "a few minutes"
    return f"{refusal('ratelimited').sentence} Wait {wait} before the next one."


def _body(response: HttpResponse) -> Mapping[str, object]:
    """Return the JSON object of an answer; empty when it is something else, such as a proxy's HTML page."""
    try:
        if response.status < 500:
            return as_object(decode(response.body))
        return {}
    except BadRequest:
        return {}
