"""Sign in with Slack: the OpenID Connect endpoints authorize, token, keys and discovery.

The page of `authorize` lists the people of the workspace. The parameter `as` chooses one of them.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html import escape
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer_simulators.http_server import origin
from gofer_simulators.json_values import JsonObject
from gofer_simulators.slack.arguments import Arguments, read_arguments
from gofer_simulators.slack.shapes import stable_id
from gofer_simulators.slack.workspace import SlackRefusal, User, Workspace

CODE_SECONDS = 600
TOKEN_SECONDS = 300
_KEY_ID = "simulated-key-1"


@dataclass(frozen=True, slots=True)
class _Grant:
    user: str
    redirect_uri: str
    nonce: str
    until: float


@dataclass
class OpenId:
    """Slack as an OpenID provider for one app."""

    workspace: Workspace
    clock: Callable[[], float]
    client_id: str
    client_secret: str
    redirect_urls: set[str] = field(default_factory=set[str])
    """The redirect URLs in the settings of the app."""
    altered: dict[str, object] = field(default_factory=dict[str, object])
    """False claims for the next id_token, which replace the right ones; None leaves a claim out."""
    _grants: dict[str, _Grant] = field(default_factory=dict[str, _Grant])
    _used: set[str] = field(default_factory=set[str])

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/.well-known/openid-configuration", self._discover, methods=["GET"]),
            Route("/openid/connect/authorize", self._authorize, methods=["GET"]),
            Route("/openid/connect/keys", self._show_keys, methods=["GET"]),
            Route("/api/openid.connect.token", self._exchange, methods=["POST"]),
        ]

    async def _discover(self, request: Request) -> Response:
        at = origin(request)
        return JSONResponse(
            {
                "issuer": at,
                "authorization_endpoint": f"{at}/openid/connect/authorize",
                "token_endpoint": f"{at}/api/openid.connect.token",
                "userinfo_endpoint": f"{at}/api/openid.connect.userInfo",
                "jwks_uri": f"{at}/openid/connect/keys",
                "scopes_supported": ["openid", "profile", "email"],
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def _show_keys(self, request: Request) -> Response:
        numbers = _signing_key().public_key().public_numbers()
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": _KEY_ID, "n": _number(numbers.n), "e": "AQAB"}
        return JSONResponse({"keys": [key]})

    async def _authorize(self, request: Request) -> Response:
        arguments = Arguments(dict(request.query_params))
        if wrong := self._refusal(arguments):
            return HTMLResponse(f"<h1>Something went wrong</h1><p>{wrong}", 400)
        redirect_uri = arguments.text("redirect_uri")
        state = arguments.text("state")
        if request.query_params.get("denied"):
            return RedirectResponse(f"{redirect_uri}?{urlencode({'error': 'access_denied', 'state': state})}", 302)
        user = self.workspace.users.get(request.query_params.get("as", ""))
        if user is None or user.bot or user.deactivated:
            return HTMLResponse(self._people(request))
        code = f"{len(self._grants) + 1}.{stable_id(user.id, str(len(self._grants)), state)}"
        self._grants[code] = _Grant(
            user=user.id, redirect_uri=redirect_uri, nonce=arguments.text("nonce"), until=self.clock() + CODE_SECONDS
        )
        return RedirectResponse(f"{redirect_uri}?{urlencode({'code': code, 'state': state})}", 302)

    def _refusal(self, arguments: Arguments) -> str:
        if arguments.text("client_id") != self.client_id:
            return "invalid_client_id"
        if arguments.text("redirect_uri") not in self.redirect_urls:
            return "bad_redirect_uri"
        if arguments.text("response_type") != "code":
            return "invalid_response_type"
        scopes = set(arguments.text("scope").split())
        if "openid" not in scopes or scopes - {"openid", "profile", "email"}:
            return "invalid_scope"
        team = arguments.text("team")
        if team and team != self.workspace.team.id:
            return "invalid_team"
        return ""

    def _people(self, request: Request) -> str:
        people = [user for user in self.workspace.users.values() if not user.bot and not user.deactivated]
        links = "".join(
            f'<li><a href="{escape(str(request.url.include_query_params(**{"as": user.id})))}">{escape(user.name)}</a>'
            for user in people
        )
        return f"<h1>Sign in to {escape(self.workspace.bot.name)}</h1><ul>{links}</ul>"

    async def _exchange(self, request: Request) -> Response:
        body = await request.body()
        try:
            arguments = read_arguments(request.headers.get("content-type", ""), body, request.url.query)
            grant = self._redeem(arguments)
        except SlackRefusal as refusal:
            return JSONResponse({"ok": False, "error": refusal.code})
        claims = self._claims(self.workspace.users[grant.user], grant, origin(request)) | self.altered
        sent = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode(sent, _signing_key(), algorithm="RS256", headers={"kid": _KEY_ID})
        self.altered.clear()
        access = f"xoxp-{stable_id(grant.user, 'openid')}"
        return JSONResponse({"ok": True, "access_token": access, "token_type": "Bearer", "id_token": token})

    def _redeem(self, arguments: Arguments) -> _Grant:
        code = arguments.text("code")
        if arguments.text("client_id") != self.client_id:
            raise SlackRefusal("invalid_client_id")
        if arguments.text("client_secret") != self.client_secret:
            raise SlackRefusal("bad_client_secret")
        if arguments.text("grant_type") not in ("", "authorization_code"):
            raise SlackRefusal("invalid_grant_type")
        if code in self._used:
            raise SlackRefusal("code_already_used")
        grant = self._grants.get(code)
        if grant is None or grant.until <= self.clock():
            raise SlackRefusal("invalid_code")
        if arguments.text("redirect_uri") != grant.redirect_uri:
            raise SlackRefusal("bad_redirect_uri")
        self._used.add(code)
        return grant

    def _claims(self, user: User, grant: _Grant, issuer: str) -> dict[str, object]:
        now = int(self.clock())
        team = self.workspace.team
        claims: JsonObject = {
            "iss": issuer,
            "sub": user.id,
            "aud": self.client_id,
            "exp": now + TOKEN_SECONDS,
            "iat": now,
            "auth_time": now,
            "nonce": grant.nonce or None,
            "at_hash": stable_id(user.id, "at_hash"),
            "https://slack.com/team_id": team.id,
            "https://slack.com/user_id": user.id,
            "https://slack.com/team_name": team.name,
            "https://slack.com/team_domain": team.domain,
            "name": user.real_name,
            "locale": "en-US",
        }
        return dict(claims)


def _number(value: int) -> str:
    raw = value.to_bytes((value.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@cache
def _signing_key() -> rsa.RSAPrivateKey:
    # A key takes up to 100 ms to make. So the first request makes it, for all simulators of the process.
    return rsa.generate_private_key(65537, 2048)
