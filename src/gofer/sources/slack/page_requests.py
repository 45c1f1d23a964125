"""Requests of the pages to Slack, and what each refusal asks of the operator."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from gofer.sources.serving import PageRefused
from gofer.values.canonical_json import as_object, as_text, clean, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.outside import Http, HttpRequest
from gofer.values.secret import Secret

SECONDS = 5.0
"""For each request to Slack: five of them are less than a function has for a page."""
NO_ANSWER = "no_answer"
"""Code of a request that Slack did not answer, or not as Slack does."""
UNSAID = "incomplete_answer"
"""Code of an answer that lacks what was asked for."""

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
"""What the operator does, by the code of Slack."""


class SlackRefused(PageRefused):
    """Slack did not do what a page needs."""

    def __init__(self, call: str, code: str) -> None:
        super().__init__("Slack", call, code, _MEND.get(code, ""))


@dataclass(frozen=True, slots=True)
class SlackWeb:
    """Slack as an app asks it."""

    api_url: str
    """Of the Web API, with a slash at the end."""
    bot_token: Secret
    http: Http

    @property
    def origin(self) -> str:
        """The site that the Web API belongs to."""
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc}"

    async def ask(self, method: str, fields: Mapping[str, str]) -> Mapping[str, object]:
        """Call a method as the bot. Raises SlackRefused."""
        answer = await self.post(method, fields, {"Authorization": f"Bearer {self.bot_token.reveal()}"})
        if answer.get("ok") is not True:
            raise SlackRefused(method, code_of(answer))
        return answer

    async def post(self, method: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Mapping[str, object]:
        """Call a method and return its answer, also one that is a refusal. Raises SlackRefused."""
        typed = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        content = urlencode(form).encode()
        return await self._send(method, HttpRequest("POST", self.api_url + method, typed, content, SECONDS))

    async def get(self, path: str) -> Mapping[str, object]:
        """Return the JSON of a path of the site. Raises SlackRefused."""
        url = f"{self.origin}/{path}"
        return await self._send(path, HttpRequest("GET", url, {"Accept": "application/json"}, timeout=SECONDS))

    async def _send(self, call: str, request: HttpRequest) -> Mapping[str, object]:
        try:
            response = await self.http.send(request)
            return as_object(decode(response.body))
        except (BadRequest, TemporaryError) as error:
            raise SlackRefused(call, NO_ANSWER) from error


def code_of(answer: Mapping[str, object]) -> str:
    """Return the reason of a refusal in Slack's words."""
    return clean(as_text(answer.get("error")))[:40] or UNSAID
