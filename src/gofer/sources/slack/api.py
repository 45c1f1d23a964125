"""The client of the Slack Web API, with refusals explained for models."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from gofer.sources.access import log_refusal
from gofer.sources.limited_requests import Pause, object_in, retry_after, wait_sentence
from gofer.sources.slack.refusals import REFUSALS
from gofer.sources.slack.scopes import Method
from gofer.sources.slack.turns import Kind, Limited, Lines
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

CHANNEL_PACE = 1.1
"""Seconds between two messages in a channel that wait for their turns. Slack accepts about one a second, and requests
take different times to arrive."""


class SlackRefusal(ToolError):
    """A refusal by Slack. The call had no effect, and `code` is Slack's error code."""

    def __init__(self, method: str, code: str, hint: str = "", *, retry_after: float = 0.0) -> None:
        sentence = f"Slack refused {method} ({code}). {hint or REFUSALS.of(code).sentence}"
        super().__init__(sentence, code=code, retry_after=retry_after, access=REFUSALS.access(code))


@dataclass(frozen=True, slots=True)
class SlackApi:
    """Slack's address and Gofer's bot token."""

    base_url: str
    """The base URL with a slash at the end, such as `https://slack.com/api/`."""
    token: Secret
    pause: Pause = asyncio.sleep
    _lines: Lines = field(default_factory=Lines, init=False, repr=False, compare=False)
    """The calls that wait for a rate limit. The runs of a process share them, because they share its tools."""

    async def read(self, call: Call, method: Method, **parameters: str | int) -> Mapping[str, object]:
        """Call a reading method with a form. Raises SlackRefusal, TemporaryError."""
        content = urlencode(parameters).encode()
        return await self._send(call, _kind(method, parameters), "application/x-www-form-urlencoded", content)

    async def write(self, call: Call, method: Method, **parameters: object) -> Mapping[str, object]:
        """Call a writing method with JSON.

        Raises SlackRefusal if the call had no effect, and TemporaryError if it may have had one.
        """
        return await self._send(call, _kind(method, parameters), "application/json; charset=utf-8", encode(parameters))

    async def pages(
        self, call: Call, method: Method, most: int, **parameters: str | int
    ) -> AsyncIterator[Mapping[str, object]]:
        """Yield up to `most` pages of a list. `parameters` must contain an empty `cursor`. Raises as `read` does."""
        for _ in range(most):
            page = await self.read(call, method, **parameters)
            yield page
            parameters["cursor"] = next_cursor(page)
            if not parameters["cursor"]:
                return

    async def _send(self, call: Call, kind: Kind, media_type: str, content: bytes) -> Mapping[str, object]:
        if not self.token:
            missing = "Gofer has no access to Slack; the operator of Gofer must set SLACK_BOT_TOKEN."
            log_refusal("slack", "credential", "no_token", missing)
            raise ToolError(missing, code="no_token", access="credential")
        headers = {"Authorization": f"Bearer {self.token.reveal()}", "Content-Type": media_type}
        request = HttpRequest("POST", self.base_url + kind.method, headers, content)
        match await self._lines.send(call, request, kind, self.pause):
            case Limited(seconds=seconds):
                raise _limited(kind.method, seconds)
            case HttpResponse() as response:
                return _reply(kind.method, response)


def next_cursor(page: Mapping[str, object]) -> str:
    """Return the cursor of the next page; empty for the last page."""
    return as_text(as_object(page.get("response_metadata")).get("next_cursor"))


def _kind(method: Method, parameters: Mapping[str, object]) -> Kind:
    """Return the calls that share a rate limit with a call."""
    if method == "chat.postMessage":
        return Kind(method, as_text(parameters.get("channel")), CHANNEL_PACE)
    return Kind(method)


def _limited(method: str, seconds: float) -> SlackRefusal:
    hint = f"{REFUSALS.of('ratelimited').sentence} {wait_sentence(seconds)}"
    return SlackRefusal(method, "ratelimited", hint, retry_after=seconds)


def _reply(method: str, response: HttpResponse) -> Mapping[str, object]:
    if response.status == 429:
        raise _limited(method, retry_after(response))
    body = object_in(response)
    if response.status >= 500 or not body:
        message = f"Slack did not answer {method} properly (HTTP {response.status})."
        raise TemporaryError(message, retry_after=response.retry_after)
    if body.get("ok") is True:
        return body
    code = as_text(body.get("error")) or "unknown_error"
    rule = REFUSALS.of(code)
    if rule.rule == "unclear":
        raise TemporaryError(f"Slack failed during {method} ({code}).")
    needed = as_text(body.get("needed"))
    hint = rule.sentence
    if needed:
        hint += f" The missing permission is {needed}."
    REFUSALS.log(code, f"Slack refuses {method} ({code}): {hint}")
    raise SlackRefusal(method, code, hint)
