"""The sign-in with Slack as an OpenID provider: the request for a code, and the verification of the code's identity.

Guests, members of other workspaces and bots are refused, because public channels are open to full members only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from gofer.sources.serving import CALLBACK, SignInSpec
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.page_requests import UNSAID, SlackRefused, SlackWeb, code_of
from gofer.sources.slack.people import SlackPeople
from gofer.sources.slack.settings import API_URL, BOT_TOKEN, CLIENT_ID, CLIENT_SECRET
from gofer.sources.webhook.hook import Jwt
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.outside import Http
from gofer.values.secret import Secret

AUTHORIZE = "openid/connect/authorize"
"""The path of Slack's page on which a person consents."""
_TEAM = "https://slack.com/team_id"
_STALE = frozenset({"code_already_used", "code_expired", "invalid_code"})
"""Slack's codes for an attempt that took too long or was already finished."""


@dataclass(frozen=True, slots=True)
class SlackOpenId:
    """Slack as the identity provider of one app."""

    members: SlackPeople
    """The members of the workspace."""
    client_id: str
    client_secret: Secret
    pages_url: str
    """The URL of Gofer's pages without a slash at the end."""

    system: ClassVar[str] = "Slack"
    authorize_path: ClassVar[str] = AUTHORIZE

    @property
    def web(self) -> SlackWeb:
        """Return the client for requests to Slack."""
        return self.members.web

    @property
    def _redirect_uri(self) -> str:
        return f"{self.pages_url}{CALLBACK}"

    async def authorize_url(self, state: str, nonce: str) -> str:
        """Return the URL of the sign-in to Gofer's own workspace. Raises SlackRefused."""
        asked = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self.client_id,
            "redirect_uri": self._redirect_uri,
            "state": state,
            "nonce": nonce,
            "team": await self.members.team(),
        }
        return f"{self.web.origin}/{AUTHORIZE}?{urlencode(asked)}"

    async def member(self, code: str, nonce: str, now: float) -> tuple[str, str]:
        """Return the ids of the full member who signed in with a code and of the workspace.

        Raises BadRequest(401 or 403), SlackRefused.
        """
        claims = await self._claims(code, now)
        if not nonce or as_text(claims.get("nonce")) != nonce:
            raise BadRequest(401, "Slack's answer belongs to another attempt to sign in. Sign in again.")
        user = as_text(claims.get("sub"))
        ours = await self.members.team()
        if not user or as_text(claims.get(_TEAM)) != ours:
            raise BadRequest(403, "You signed in to another workspace than Gofer's. Sign in to Gofer's workspace.")
        await self.members.check_member(user, ours)
        return user, ours

    async def _claims(self, code: str, now: float) -> Mapping[str, object]:
        form = {
            "client_id": self.client_id,
            "client_secret": self.client_secret.reveal(),
            "code": code,
            "grant_type": "authorization_code",
            "redirect_uri": self._redirect_uri,
        }
        answer = await self.web.post("openid.connect.token", form, {})
        if answer.get("ok") is not True:
            refused = code_of(answer)
            if refused in _STALE:
                raise BadRequest(401, "This attempt to sign in was already finished or took too long. Sign in again.")
            raise SlackRefused("openid.connect.token", refused)
        form_of_token = Jwt(self.web.origin, self.client_id, ("RS256",), await self._keys())
        try:
            return JwtProof(form_of_token, ()).claims(as_text(answer.get("id_token")), now)
        except ConfigError as error:
            raise SlackRefused("openid/connect/keys", UNSAID) from error

    async def _keys(self) -> tuple[Mapping[str, object], ...]:
        keys = as_list((await self.web.get("openid/connect/keys")).get("keys"))
        # Slack signs with RSA keys. A key of another kind in the list must not make the sign-in fail.
        return tuple(as_object(key) for key in keys if as_object(key).get("kty") == "RSA")


def _people(settings: SourceSettings, http: Http) -> SlackPeople:
    return SlackPeople(SlackWeb(settings[API_URL], settings[BOT_TOKEN], http))


def _members(settings: SourceSettings, http: Http) -> SlackPeople | None:
    if settings[BOT_TOKEN]:
        return _people(settings, http)
    return None


def _identities(settings: SourceSettings, http: Http, pages_url: str) -> SlackOpenId:
    return SlackOpenId(_people(settings, http), settings[CLIENT_ID], settings[CLIENT_SECRET], pages_url)


SLACK_SIGN_IN = SignInSpec(
    system="Slack",
    needed=(CLIENT_ID, CLIENT_SECRET, BOT_TOKEN),
    settings=(BOT_TOKEN, API_URL, CLIENT_ID, CLIENT_SECRET),
    own=(CLIENT_ID, CLIENT_SECRET),
    make=_identities,
    members=_members,
)
