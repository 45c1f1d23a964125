"""The sign-in with Slack as an OpenID provider: the request for a code, and the check of what it stands for.

A guest, a member of another workspace and a bot are refused: what a channel shows, only full members may all see.
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
"""The page of Slack on which a person agrees."""
_TEAM = "https://slack.com/team_id"
_STALE = frozenset({"code_already_used", "code_expired", "invalid_code"})
"""Codes of Slack for an attempt that took too long or was finished before."""


@dataclass(frozen=True, slots=True)
class SlackOpenId:
    """Slack as the provider of identities for one app."""

    members: SlackPeople
    """The members of the workspace."""
    client_id: str
    client_secret: Secret
    pages_url: str
    """Where colleagues open Gofer's pages, without a slash at the end."""

    system: ClassVar[str] = "Slack"
    authorize_path: ClassVar[str] = AUTHORIZE

    @property
    def web(self) -> SlackWeb:
        """Requests to Slack."""
        return self.members.web

    @property
    def _redirect_uri(self) -> str:
        return f"{self.pages_url}{CALLBACK}"

    async def authorize_url(self, state: str, nonce: str) -> str:
        """Return where a browser is sent to sign in to Gofer's own workspace. Raises SlackRefused."""
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
        """Return the ids of the full member whom a code stands for and of their workspace.

        Raises BadRequest(401 or 403), SlackRefused.
        """
        claims = await self._claims(code, now)
        if not nonce or as_text(claims.get("nonce")) != nonce:
            raise BadRequest(401, "This answer of Slack belongs to another attempt to sign in. Begin again.")
        user = as_text(claims.get("sub"))
        ours = await self.members.team()
        if not user or as_text(claims.get(_TEAM)) != ours:
            raise BadRequest(403, "You signed in to another workspace than the one Gofer is in.")
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
                raise BadRequest(401, "This attempt to sign in was finished before, or took too long. Begin again.")
            raise SlackRefused("openid.connect.token", refused)
        form_of_token = Jwt(self.web.origin, self.client_id, ("RS256",), await self._keys())
        try:
            return JwtProof(form_of_token, ()).claims(as_text(answer.get("id_token")), now)
        except ConfigError as error:
            raise SlackRefused("openid/connect/keys", UNSAID) from error

    async def _keys(self) -> tuple[Mapping[str, object], ...]:
        keys = as_list((await self.web.get("openid/connect/keys")).get("keys"))
        # Only RSA keys can be Slack's: another kind beside them must keep no person out.
        return tuple(as_object(key) for key in keys if as_object(key).get("kty") == "RSA")


def _identities(settings: SourceSettings, http: Http, pages_url: str) -> SlackOpenId:
    people = SlackPeople(SlackWeb(settings[API_URL], settings[BOT_TOKEN], http))
    return SlackOpenId(people, settings[CLIENT_ID], settings[CLIENT_SECRET], pages_url)


SLACK_SIGN_IN = SignInSpec(
    system="Slack",
    needed=(CLIENT_ID, CLIENT_SECRET, BOT_TOKEN),
    settings=(BOT_TOKEN, API_URL, CLIENT_ID, CLIENT_SECRET),
    make=_identities,
)
