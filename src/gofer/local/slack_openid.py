"""Which member of the workspace signs in? Slack says so as an OpenID provider, and its word is checked.

A guest, a member of another workspace and a bot are refused: what a channel shows, only full members may all see.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from gofer.canonical import as_list, as_object, as_text, clean, decode
from gofer.errors import BadRequest, ConfigError, TemporaryError
from gofer.outside import Http, HttpRequest
from gofer.secret import Secret
from gofer.triggers.hook import Jwt
from gofer.triggers.jwt_bearer import JwtProof

CALLBACK = "/sign-in/callback"
_TEAM = "https://slack.com/team_id"
_SECONDS = 5.0
"""For each request to Slack: four of them are less than a function has for a page."""
_MEMBERS = 999
"""Members of a channel that one request tells; of so many pages at most is it asked."""
_PAGES = 20
_GUEST = ("is_restricted", "is_ultra_restricted", "is_stranger", "is_bot", "deleted")


@dataclass(frozen=True, slots=True)
class SlackOpenId:
    """Slack as it is asked who somebody is."""

    api_url: str
    """Of the Web API, with a slash at the end."""
    client_id: str
    client_secret: Secret
    bot_token: Secret
    """Asks which workspace is ours, and what kind of member somebody is."""
    pages_url: str
    """Where colleagues open Gofer's pages, without a slash at the end."""
    http: Http

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def _redirect_uri(self) -> str:
        return f"{self.pages_url}{CALLBACK}"

    def authorize_url(self, state: str, nonce: str) -> str:
        """Where a browser is sent to sign in."""
        asked = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self.client_id,
            "redirect_uri": self._redirect_uri,
            "state": state,
            "nonce": nonce,
        }
        return f"{self._origin}/openid/connect/authorize?{urlencode(asked)}"

    async def member(self, code: str, nonce: str, now: float) -> str:
        """The id of the full member a code stands for. Raises BadRequest(401 or 403), TemporaryError."""
        claims = await self._claims(code, now)
        if not nonce or as_text(claims.get("nonce")) != nonce:
            raise BadRequest(401, "This answer of Slack belongs to another attempt to sign in. Begin again.")
        user = as_text(claims.get("sub"))
        ours = as_text((await self._ask("auth.test", {})).get("team_id"))
        if not user or not ours or as_text(claims.get(_TEAM)) != ours:
            raise BadRequest(403, "You signed in to another workspace than the one Gofer is in.")
        about = as_object((await self._ask("users.info", {"user": user})).get("user"))
        if as_text(about.get("id")) != user:
            raise TemporaryError("Slack does not say what kind of member somebody is")
        if as_text(about.get("team_id")) not in ("", ours) or any(about.get(flag) is True for flag in _GUEST):
            raise BadRequest(403, "Only full members of the workspace see runs.")
        return user

    async def is_in(self, channel: str, user: str) -> bool:
        """Whether somebody is in a channel that the bot is in too. Raises TemporaryError when Slack does not say."""
        cursor = ""
        for _ in range(_PAGES):
            asked = {"channel": channel, "limit": str(_MEMBERS), **({"cursor": cursor} if cursor else {})}
            answer = await self._ask("conversations.members", asked)
            if user in as_list(answer.get("members")):
                return True
            cursor = as_text(as_object(answer.get("response_metadata")).get("next_cursor"))
            if not cursor:
                return False
        raise TemporaryError(f"the channel {channel} has more than {_PAGES * _MEMBERS:,} members")

    async def _claims(self, code: str, now: float) -> Mapping[str, object]:
        form = {
            "client_id": self.client_id,
            "client_secret": self.client_secret.reveal(),
            "code": code,
            "grant_type": "authorization_code",
            "redirect_uri": self._redirect_uri,
        }
        answer = await self._post("openid.connect.token", form, {})
        if answer.get("ok") is not True:
            # What is wrong with our own settings is as little a visitor's business as their code is ours.
            raise BadRequest(401, f"Slack did not confirm who you are ({_code(answer)}). Begin again.")
        form_of_token = Jwt(self._origin, self.client_id, ("RS256",), await self._keys())
        try:
            return JwtProof(form_of_token, ()).claims(as_text(answer.get("id_token")), now)
        except ConfigError as error:
            raise TemporaryError("Slack shows no key that its tokens could be checked with") from error

    async def _keys(self) -> tuple[Mapping[str, object], ...]:
        request = HttpRequest(
            "GET", f"{self._origin}/openid/connect/keys", {"Accept": "application/json"}, timeout=_SECONDS
        )
        keys = as_list((await self._send(request)).get("keys"))
        # Only what can be a key of theirs: another kind beside them must not keep anybody out.
        return tuple(as_object(key) for key in keys if as_object(key).get("kty") == "RSA")

    async def _ask(self, method: str, fields: Mapping[str, str]) -> Mapping[str, object]:
        """A method of the Web API as the bot. Raises TemporaryError when it is refused."""
        answer = await self._post(method, fields, {"Authorization": f"Bearer {self.bot_token.reveal()}"})
        if answer.get("ok") is not True:
            raise TemporaryError(f"Slack refused {method} ({_code(answer)})")
        return answer

    async def _post(self, method: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Mapping[str, object]:
        typed = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        content = urlencode(form).encode()
        return await self._send(HttpRequest("POST", self.api_url + method, typed, content, _SECONDS))

    async def _send(self, request: HttpRequest) -> Mapping[str, object]:
        response = await self.http.send(request)
        try:
            return as_object(decode(response.body))
        except BadRequest as error:
            raise TemporaryError(f"Slack does not answer as Slack (HTTP {response.status})") from error


def _code(answer: Mapping[str, object]) -> str:
    return clean(as_text(answer.get("error")))[:40] or "no reason given"
