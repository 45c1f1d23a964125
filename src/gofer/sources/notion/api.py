"""The client of the Notion API, with refusals explained for models."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote, urlencode

from gofer.sources.access import log_refusal
from gofer.sources.limited_requests import Pause, asked_wait, object_in, retry_after, send_patiently, wait_sentence
from gofer.sources.notion.refusals import LIMITED, OUTAGES, REFUSALS
from gofer.sources.notion.settings import VERSION
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret

PAGE = 100
"""Entries per page of a list."""

_IN_PATHS = "/%"
"""The characters of a path that stay, because Notion gives the ids of properties with URL encoding."""

Fields = Mapping[str, object]


class NotionRefusal(ToolError):
    """A refusal by Notion. The call had no effect, and `code` is Notion's error code."""

    def __init__(self, what: str, code: str, hint: str = "", *, said: str = "", retry_after: float = 0.0) -> None:
        sentence = f"Notion refused {what} ({code}). {hint or REFUSALS.of(code).sentence}"
        super().__init__(sentence, code=code, retry_after=retry_after, access=REFUSALS.access(code))
        self.reason = f"{code}: {said}" if said else code
        """The code, with Notion's own words if they say more."""

    @property
    def is_outage(self) -> bool:
        """Whether the refusal concerns all of Notion, and not only the object of the request."""
        return self.code in OUTAGES


_wait = partial(asked_wait, limited=LIMITED)


@dataclass(frozen=True, slots=True)
class NotionApi:
    """Notion's address and Gofer's token."""

    base_url: str
    """The base URL without a slash at the end, such as `https://api.notion.com`."""
    token: Secret
    pause: Pause = asyncio.sleep
    members: dict[str, tuple[bool, float]] = field(
        default_factory=dict[str, tuple[bool, float]], init=False, repr=False, compare=False
    )
    """Whether people are members, by id, and the time (unix seconds) until which a process takes it for certain."""

    async def get(self, call: Call, path: str, **query: str | int) -> Fields:
        """Return the object at a path such as `pages/<id>`. Raises NotionRefusal, TemporaryError."""
        asked = ""
        if query:
            asked = f"?{urlencode(query)}"
        return await self._send(call, "GET", path, asked, b"")

    async def post(self, call: Call, path: str, **body: object) -> Fields:
        """Create an object or send a query.

        Raises NotionRefusal if the call had no effect, and TemporaryError if it may have had one.
        """
        return await self._send(call, "POST", path, "", encode(body))

    async def patch(self, call: Call, path: str, **body: object) -> Fields:
        """Change an object.

        Raises NotionRefusal if the call had no effect, and TemporaryError if it may have had one.
        """
        return await self._send(call, "PATCH", path, "", encode(body))

    async def listed(self, call: Call, path: str, pages: int, **query: str | int) -> AsyncIterator[Fields]:
        """Yield all entries of a list. Raises ToolError when it has more than `pages` pages; NotionRefusal."""
        cursor: dict[str, str] = {}
        for _ in range(pages):
            page = await self.get(call, path, page_size=PAGE, **query, **cursor)
            for one in as_list(page.get("results")):
                yield as_object(one)
            if not (following := as_text(page.get("next_cursor"))):
                return
            cursor = {"start_cursor": following}
        message = f"Notion lists more than {PAGE * pages} entries there; that is too many to look through."
        raise ToolError(message, code="too_many")

    async def _send(self, call: Call, method: str, path: str, asked: str, content: bytes) -> Fields:
        if not self.token:
            missing = "Gofer has no access to Notion; the operator of Gofer must set NOTION_TOKEN."
            log_refusal("notion", "credential", "no_token", missing)
            raise ToolError(missing, code="no_token", access="credential")
        headers = {"Authorization": f"Bearer {self.token.reveal()}", "Notion-Version": VERSION}
        if content:
            headers |= {"Content-Type": "application/json"}
        request = HttpRequest(method, f"{self.base_url}/v1/{quote(path, safe=_IN_PATHS)}{asked}", headers, content)
        response = await send_patiently(call.http, request, self.pause, _wait)
        return _reply(f"{method} {path.split('/')[0]}", response)


def _reply(what: str, response: HttpResponse) -> Fields:
    body = object_in(response)
    if 200 <= response.status < 300 and body:
        return body
    if response.status in LIMITED:
        seconds = retry_after(response)
        hint = f"{REFUSALS.of('rate_limited').sentence} {wait_sentence(seconds)}"
        raise NotionRefusal(what, "rate_limited", hint, retry_after=seconds)
    code = as_text(body.get("code"))
    rule = REFUSALS.of(code)
    if response.status >= 500 or not code or rule.rule == "unclear":
        message = f"Notion did not answer {what} properly (HTTP {response.status})."
        raise TemporaryError(message, retry_after=response.retry_after)
    REFUSALS.log(code, f"Notion refuses {what} ({code}): {rule.sentence}")
    message = " ".join(as_text(body.get("message")).split())[:300]
    if code == "validation_error" and message:
        raise NotionRefusal(what, code, f"It says: {message} {rule.sentence}", said=message)
    raise NotionRefusal(what, code)
