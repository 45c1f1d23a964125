"""Requests of the pages to Slack, and the operator's remedy for each refusal."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from gofer.sources.serving import PageRefused
from gofer.values.canonical_json import as_object, as_text, clean, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.outside import Http, HttpRequest
from gofer.values.secret import Secret

SECONDS = 5.0
"""The time limit of one request to Slack. Five such requests fit into the time that a function has for a page."""
NO_ANSWER = "no_answer"
"""The code for a request without a usable answer from Slack."""
UNSAID = "incomplete_answer"
"""The code for an answer that lacks the requested value."""

_BOT_TOKEN = "set SLACK_BOT_TOKEN to the bot token of the installed Slack app"  # noqa: S105 (a sentence)
_REPLACE_APP = "set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET to those of the Slack app"
_SCOPES = "add the scopes that `gofer manifest --sign-in` lists to the Slack app and install it again"
_MEND: Mapping[str, str] = {
    "account_inactive": _BOT_TOKEN,
    "bad_client_secret": _REPLACE_APP,
    "bad_redirect_uri": "add GOFER_URL with /sign-in/callback to the redirect URLs of the Slack app",
    "ekm_access_denied": "ask an administrator of Slack to let the app read",
    "invalid_auth": _BOT_TOKEN,
    "invalid_client_id": _REPLACE_APP,
    "invalid_scope": _SCOPES,
    "invalid_team": _BOT_TOKEN,
    "missing_scope": _SCOPES,
    "no_permission": _SCOPES,
    "not_allowed_token_type": _BOT_TOKEN,
    "not_authed": _BOT_TOKEN,
    "org_login_required": "finish the migration of the workspace to Enterprise Grid and install the app again",
    "team_access_not_granted": "ask an administrator of Slack to grant the app access to the workspace",
    "token_expired": _BOT_TOKEN,
    "token_revoked": _BOT_TOKEN,
    "unapproved_scope": _SCOPES,
}
"""The operator's remedy by Slack's code."""


class SlackRefused(PageRefused):
    """A refusal by Slack of a request that a page needs."""

    def __init__(self, call: str, code: str) -> None:
        super().__init__("Slack", call, code, _MEND.get(code, ""))


@dataclass(frozen=True, slots=True)
class SlackWeb:
    """The client for requests of the pages to Slack."""

    api_url: str
    """The base URL of the Web API, with a slash at the end."""
    bot_token: Secret
    http: Http

    @property
    def origin(self) -> str:
        """Return the site of the Web API."""
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc}"

    async def ask(self, method: str, fields: Mapping[str, str]) -> Mapping[str, object]:
        """Call a method as the bot. Raises SlackRefused."""
        answer = await self.post(method, fields, {"Authorization": f"Bearer {self.bot_token.reveal()}"})
        if answer.get("ok") is not True:
            raise SlackRefused(method, code_of(answer))
        return answer

    async def post(self, method: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Mapping[str, object]:
        """Call a method and return its answer, even if it is a refusal. Raises SlackRefused if there is no answer."""
        typed = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        content = urlencode(form).encode()
        return await self._send(method, HttpRequest("POST", self.api_url + method, typed, content, SECONDS))

    async def get(self, path: str) -> Mapping[str, object]:
        """Return the JSON at a path of the site. Raises SlackRefused."""
        url = f"{self.origin}/{path}"
        return await self._send(path, HttpRequest("GET", url, {"Accept": "application/json"}, timeout=SECONDS))

    async def _send(self, call: str, request: HttpRequest) -> Mapping[str, object]:
        try:
            response = await self.http.send(request)
            return as_object(decode(response.body))
        except (BadRequest, TemporaryError) as error:
            raise SlackRefused(call, NO_ANSWER) from error


def code_of(answer: Mapping[str, object]) -> str:
    """Return Slack's code for a refusal."""
    return clean(as_text(answer.get("error")))[:40] or UNSAID
