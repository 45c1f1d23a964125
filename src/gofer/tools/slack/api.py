"""How is a method of the Slack Web API called, and what does its refusal mean to a model?"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from gofer.canonical import as_object, as_text, clean, decode, encode
from gofer.errors import BadRequest, TemporaryError, ToolError
from gofer.outside import HttpRequest, HttpResponse
from gofer.secret import Secret
from gofer.tools.slack.scopes import Method
from gofer.tools.tool import Call

_log = logging.getLogger(__name__)

_HINTS = {
    "already_reacted": "The reaction is there already.",
    "channel_not_found": "Slack knows no such channel, or Gofer is not a member of it. Check the name.",
    "not_in_channel": "Gofer is not a member of that channel; somebody has to invite it first.",
    "is_archived": "That channel is archived; nothing can be written there.",
    "thread_not_found": "Slack knows no such message there. Check channel and ts.",
    "message_not_found": "Slack knows no such message there. Check channel and ts.",
    "invalid_name": "Slack knows no emoji of that name. Use a plain one such as eyes.",
    "invalid_auth": "Slack does not accept Gofer's token; whoever runs Gofer has to renew it.",
    "token_expired": "Gofer's Slack token has expired; whoever runs Gofer has to renew it.",
    "missing_scope": "Gofer's Slack app lacks a permission for this; whoever runs Gofer has to add it.",
}
_SETUP = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope"}
)
"""Refusals that whoever runs Gofer has to act on; nobody in a channel can."""
_UNCERTAIN = frozenset({"fatal_error", "internal_error", "service_unavailable", "request_timeout"})
"""Refusals after which the method may have half-happened."""


class SlackRefusal(ToolError):
    """Slack said no, and nothing happened. `code` is its error code."""

    def __init__(self, method: str, code: str, hint: str = "") -> None:
        super().__init__(f"Slack refused {method} ({code}). {hint or _HINTS.get(code, '')}".strip())
        self.code = code


@dataclass(frozen=True, slots=True)
class SlackApi:
    """Where Slack is and who we are there."""

    base_url: str
    """With a slash at the end, as `https://slack.com/api/`."""
    token: Secret

    async def read(self, call: Call, method: Method, **parameters: str | int) -> Mapping[str, object]:
        """Calls a reading method, as a form. Raises SlackRefusal, TemporaryError."""
        return await self._send(call, method, "application/x-www-form-urlencoded", urlencode(parameters).encode())

    async def write(self, call: Call, method: Method, **parameters: object) -> Mapping[str, object]:
        """Calls a writing method, as JSON. Raises SlackRefusal when it did not happen, TemporaryError when unclear."""
        return await self._send(call, method, "application/json; charset=utf-8", encode(parameters))

    async def _send(self, call: Call, method: str, media_type: str, content: bytes) -> Mapping[str, object]:
        headers = {"Authorization": f"Bearer {self.token.reveal()}", "Content-Type": media_type}
        response = await call.http.send(HttpRequest("POST", self.base_url + method, headers, content))
        return _reply(method, response)


def _reply(method: str, response: HttpResponse) -> Mapping[str, object]:
    if response.status == 429:
        seconds = response.headers.get("retry-after", "a few")
        raise SlackRefusal(method, "ratelimited", f"Wait {clean(seconds)[:6]} seconds before the next call.")
    body = _body(response)
    if not body:
        raise TemporaryError(f"Slack did not answer {method} properly (HTTP {response.status}).")
    if body.get("ok") is True:
        return body
    code = as_text(body.get("error")) or "unknown_error"
    if code in _UNCERTAIN:
        raise TemporaryError(f"Slack failed during {method} ({code}).")
    needed = as_text(body.get("needed"))
    if code in _SETUP:
        # Neither run nor channel: a refusal also comes to runs that must leave no trace.
        _log.error("Slack refuses %s (%s %s): %s", method, code, needed, _HINTS.get(code, "renew the token"))
    raise SlackRefusal(method, code, f"The missing permission is {needed}." if needed else "")


def _body(response: HttpResponse) -> Mapping[str, object]:
    """The JSON object of an answer; empty when it is something else, such as a proxy's HTML page."""
    try:
        return as_object(decode(response.body)) if response.status < 500 else {}
    except BadRequest:
        return {}
