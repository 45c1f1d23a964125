"""Who is Gofer in Slack, and may it do what its workflows need? Asked once, when it starts to serve."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.app.settings import Settings
from gofer.sources.slack import settings as slack
from gofer.values.canonical_json import as_object, as_text, clean, decode
from gofer.values.errors import BadRequest, ConfigError, TemporaryError
from gofer.values.outside import Http, HttpRequest


@dataclass(frozen=True, slots=True)
class SlackApp:
    """The app that a bot token belongs to."""

    team: str
    """Name of the workspace."""
    user: str
    """Name of the bot user."""
    scopes: frozenset[str] | None
    """What it may do; None when Slack did not say."""


async def identify(settings: Settings, http: Http) -> SlackApp:
    """The app of the bot token. Raises ConfigError when Slack does not accept it, TemporaryError."""
    headers = {"Authorization": f"Bearer {settings.sources[slack.BOT_TOKEN].reveal()}"}
    response = await http.send(HttpRequest("POST", f"{settings.sources[slack.API_URL]}auth.test", headers))
    body = _fields(response.body)
    if body.get("ok") is True:
        listed = response.headers.get("x-oauth-scopes")
        scopes = None if listed is None else frozenset(filter(None, listed.replace(" ", "").split(",")))
        return SlackApp(as_text(body.get("team")), as_text(body.get("user")), scopes)
    code = clean(as_text(body.get("error")))[:40]
    if not code or code == "ratelimited" or response.status >= 500:
        raise TemporaryError(f"{settings.sources[slack.API_URL]} does not answer as Slack (HTTP {response.status}).")
    raise ConfigError(
        f"Slack does not accept SLACK_BOT_TOKEN ({code}); copy the Bot User OAuth Token again from OAuth & Permissions "
        "of your app, after installing it to the workspace."
    )


def _fields(raw: bytes) -> Mapping[str, object]:
    """The JSON object of an answer; empty when it is something else, such as a proxy's page."""
    try:
        return as_object(decode(raw))
    except BadRequest:
        return {}
