"""Requests to Jira's REST API, and the meaning of its refusals to a model."""

import asyncio
import base64
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from gofer.sources.access import tell_operator
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode
from gofer.values.errors import Access, BadRequest, TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

LONGEST_WAIT = 15.0
"""Seconds one request is held back in all while Jira asks to wait; less than the time of a tool."""
PROPERTY = "gofer.call"
"""The entity property that says which call wrote an issue or a comment."""
SAID = 600
"""Characters of Jira's own words that a model is shown."""

Fields = Mapping[str, object]

_SENTENCES: Mapping[int, str] = {
    401: "Jira does not accept Gofer's API token, which may have expired (none lasts longer than a year);"
    " whoever runs Gofer has to renew it and set JIRA_EMAIL and JIRA_API_TOKEN.",
    403: "Gofer's account in Jira may not do that; an admin of the project can allow it.",
    404: "There is no such issue, or Gofer's account in Jira may not see it. Check the key.",
    413: "That is larger than Jira takes; write less.",
    429: "Jira takes no more calls of this kind for a while.",
}
_OPERATE: Mapping[int, Access] = {401: "credential", 403: "permission"}
"""What nobody in a channel or at an issue can act on, so that it stands in the log as well."""


class JiraRefusal(ToolError):
    """Jira said no, and nothing happened. `code` is the status; `said` and `fields` are Jira's two lists of errors."""

    def __init__(
        self, status: int, sentence: str, fields: Mapping[str, str] | None = None, *, retry_after: float = 0.0
    ) -> None:
        super().__init__(
            f"Jira refused that ({status}): {sentence}",
            code=str(status),
            retry_after=retry_after,
            access=_OPERATE.get(status, ""),
        )
        self.status = status
        self.fields = dict(fields or {})


@dataclass(frozen=True, slots=True)
class JiraApi:
    """Where Jira is and who we are there."""

    base_url: str
    """Without a slash at the end, as `https://acme.atlassian.net`; empty where no Jira is set up."""
    email: str
    """Whom the API token belongs to."""
    token: Secret
    pause: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)
    """Returns after so many seconds."""

    async def read(self, call: Call, path: str, **query: str | int) -> Fields:
        """Return the object at a path below `/rest/api/3`. Raises JiraRefusal, TemporaryError."""
        return as_object(await self._sent(call, "GET", f"{path}?{urlencode(query)}" if query else path, None))

    async def write(self, call: Call, path: str, body: Mapping[str, object]) -> Fields:
        """Return the answer to a POST. Raises JiraRefusal when nothing happened, TemporaryError when that is open."""
        return as_object(await self._sent(call, "POST", path, body))

    async def listed(self, call: Call, path: str, **query: str | int) -> list[Fields]:
        """Return the objects of a list at a path. Raises JiraRefusal, TemporaryError."""
        return [as_object(one) for one in as_list(await self._sent(call, "GET", f"{path}?{urlencode(query)}", None))]

    def browse(self, key: str) -> str:
        """Return the address of an issue for people; empty where only the gateway's is known, which has no pages."""
        if "/ex/jira/" in self.base_url:
            return ""
        return f"{self.base_url}/browse/{key}"

    async def _sent(self, call: Call, method: str, path: str, body: Mapping[str, object] | None) -> object:
        if not self.base_url:
            missing = "no Jira is set up; whoever runs Gofer has to set JIRA_BASE_URL."
            tell_operator("jira", "credential", "no_url", missing)
            raise JiraRefusal(401, missing)
        basic = base64.b64encode(f"{self.email}:{self.token.reveal()}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "Accept": "application/json"}
        content = b""
        if body is not None:
            headers |= {"Content-Type": "application/json"}
            content = encode(body)
        request = HttpRequest(method, f"{self.base_url}/rest/api/3{path}", headers, content)
        response = await call.http.send(request)
        waited = 0.0
        # A request that was limited did not happen, so that sending it again is safe whatever its effect.
        while response.status == 429 and (wait := _seconds(response)) <= LONGEST_WAIT - waited:
            await self.pause(wait)
            waited += wait
            response = await call.http.send(request)
        return _answer(response)


def _answer(response: HttpResponse) -> object:
    if response.status == 204:
        return {}
    if response.status >= 500 or response.status == 408:
        said = f"Jira did not answer properly (HTTP {response.status})."
        raise TemporaryError(said, retry_after=response.retry_after)
    value = _value(response)
    if 200 <= response.status < 300:
        if value is None and response.body.strip():
            raise TemporaryError("Jira did not answer with JSON; JIRA_BASE_URL may not be the address of a Jira.")
        return value
    raise _refusal(response, as_object(value))


def _refusal(response: HttpResponse, body: Fields) -> JiraRefusal:
    status = response.status
    errors = {as_text(name): as_text(message) for name, message in as_object(body.get("errors")).items()}
    said = [text for text in map(as_text, as_list(body.get("errorMessages"))) if text]
    said += [f"{name}: {message}" for name, message in errors.items()]
    # Jira says no more of a 401 than that it is one, and of a 404 only what our own sentence says better.
    own = _SENTENCES.get(status, "")
    words = "" if status in (401, 404, 429) and own else "; ".join(" ".join(text.split()) for text in said)[:SAID]
    if 300 <= status < 400:
        own = "it sends Gofer elsewhere; JIRA_BASE_URL is not the address of the Jira site itself."
    if status == 429 and (seconds := _seconds(response)) < math.inf:
        own = f"{own} Wait {math.ceil(seconds)} seconds before the next one."
    sentence = " ".join(filter(None, (words and _ended(words), own))) or "it gave no reason."
    if access := _OPERATE.get(status):
        tell_operator("jira", access, str(status), f"Jira refuses Gofer's calls ({status}): {own}")
    return JiraRefusal(status, sentence, errors, retry_after=_seconds(response) if status == 429 else 0.0)


def _ended(sentence: str) -> str:
    if sentence.endswith((".", "!", "?")):
        return sentence
    return f"{sentence}."


def _seconds(response: HttpResponse) -> float:
    """Return how long Jira asks to wait, at least a second; for ever when it does not say."""
    try:
        return max(1.0, float(response.headers.get("retry-after", "inf")))
    except ValueError:
        return math.inf


def _value(response: HttpResponse) -> object:
    """Return the JSON of an answer; None when it is something else, such as a page to log in."""
    try:
        if response.body.strip():
            return decode(response.body)
        return None
    except BadRequest:
        return None
