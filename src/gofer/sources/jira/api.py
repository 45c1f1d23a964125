"""The client of Jira's REST API, with refusals explained for models."""

import asyncio
import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from gofer.sources.access import log_refusal
from gofer.sources.limited_requests import Pause, asked_wait, send_patiently, wait_sentence
from gofer.sources.refusals import Refusal, Refusals
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode
from gofer.values.errors import BadRequest, TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

PROPERTY = "gofer.call"
"""The entity property with the key of the call that wrote an issue or comment."""
SAID = 600
"""The most characters of Jira's own error messages that a model sees."""

Fields = Mapping[str, object]

REFUSALS = Refusals(
    "jira",
    {
        "401": Refusal(
            "operate",
            "Jira does not accept Gofer's API token, which may have expired (none lasts longer than a year);"
            " the operator of Gofer must renew it and set JIRA_EMAIL and JIRA_API_TOKEN.",
        ),
        "403": Refusal("operate", "Gofer's account in Jira may not do that; an admin of the project can allow it."),
        "404": Refusal("tell", "There is no such issue, or Gofer's account in Jira may not see it. Check the key."),
        "413": Refusal("tell", "That is larger than Jira accepts; write less."),
        "429": Refusal("tell", "Jira accepts no more calls of this kind for a while."),
    },
    unknown=Refusal("tell", ""),
    credential=frozenset({"401"}),
)
MISSING = REFUSALS.of("404").sentence
"""The sentence for an object that does not exist or that Gofer may not see."""
"""Refusals by HTTP status, because Jira has no error codes."""


class JiraRefusal(ToolError):
    """A refusal by Jira. The request had no effect, and `code` is the status.

    `fields` are Jira's errors by field, and `general` its other errors.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        fields: Mapping[str, str] | None = None,
        *,
        general: Sequence[str] = (),
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(
            f"Jira refused that ({status}): {sentence}",
            code=str(status),
            retry_after=retry_after,
            access=REFUSALS.access(str(status)),
        )
        self.status = status
        self.fields = dict(fields or {})
        self.general = general


@dataclass(frozen=True, slots=True)
class JiraApi:
    """Jira's address and Gofer's account."""

    base_url: str
    """The URL without a slash at the end, such as `https://acme.atlassian.net`; empty if Jira is not set up."""
    email: str
    """The email address of the API token's account."""
    token: Secret
    pause: Pause = asyncio.sleep

    @property
    def authorization(self) -> Mapping[str, str]:
        """Return the header with the credentials of Gofer's account."""
        basic = base64.b64encode(f"{self.email}:{self.token.reveal()}".encode()).decode()
        return {"Authorization": f"Basic {basic}"}

    async def read(self, call: Call, path: str, **query: str | int) -> Fields:
        """Return the object at a path below `/rest/api/3`. Raises JiraRefusal, TemporaryError."""
        return as_object(await self._sent(call, "GET", f"{path}?{urlencode(query)}" if query else path, None))

    async def write(self, call: Call, path: str, body: Mapping[str, object]) -> Fields:
        """Return the answer to a POST.

        Raises JiraRefusal if it had no effect, TemporaryError if it may have had one.
        """
        return as_object(await self._sent(call, "POST", path, body))

    async def listed(self, call: Call, path: str, **query: str | int) -> list[Fields]:
        """Return the objects of a list at a path. Raises JiraRefusal, TemporaryError."""
        return [as_object(one) for one in as_list(await self._sent(call, "GET", f"{path}?{urlencode(query)}", None))]

    def browse(self, key: str) -> str:
        """Return the address of an issue's page; empty with the address of Atlassian's gateway, which has no pages."""
        if "/ex/jira/" in self.base_url:
            return ""
        return f"{self.base_url}/browse/{key}"

    async def _sent(self, call: Call, method: str, path: str, body: Mapping[str, object] | None) -> object:
        if not self.base_url:
            missing = "Jira is not set up; the operator of Gofer must set JIRA_BASE_URL."
            log_refusal("jira", "credential", "no_url", missing)
            raise JiraRefusal(401, missing)
        headers = {**self.authorization, "Accept": "application/json"}
        content = b""
        if body is not None:
            headers |= {"Content-Type": "application/json"}
            content = encode(body)
        request = HttpRequest(method, f"{self.base_url}/rest/api/3{path}", headers, content)
        return _answer(await send_patiently(call.http, request, self.pause))


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
    general = [text for text in map(as_text, as_list(body.get("errorMessages"))) if text]
    said = [*general, *(f"{name}: {message}" for name, message in errors.items())]
    # For these statuses, Gofer's own sentence is more helpful than Jira's message.
    own = REFUSALS.of(str(status)).sentence
    wait = asked_wait(response)
    words = "" if status in (401, 404, 429) and own else "; ".join(" ".join(text.split()) for text in said)[:SAID]
    if 300 <= status < 400:
        own = "it redirects Gofer to another address; JIRA_BASE_URL is not the address of the Jira site itself."
    if wait is not None and wait < math.inf:
        own = f"{own} {wait_sentence(wait)}"
    sentence = " ".join(filter(None, (words and ended(words), own))) or "it gave no reason."
    REFUSALS.log(str(status), f"Jira refuses Gofer's calls ({status}): {own}")
    return JiraRefusal(status, sentence, errors, general=general, retry_after=wait or 0.0)


def ended(sentence: str) -> str:
    """Return a sentence with a full stop if it has no other end."""
    if sentence.endswith((".", "!", "?")):
        return sentence
    return f"{sentence}."


def _value(response: HttpResponse) -> object:
    """Return the JSON of an answer; None for anything else, such as a login page."""
    try:
        if response.body.strip():
            return decode(response.body)
        return None
    except BadRequest:
        return None
