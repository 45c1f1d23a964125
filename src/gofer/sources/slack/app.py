"""The Slack app that an operator installs: its manifest, and the look-up of the app that a bot token belongs to."""

from collections.abc import Iterable, Mapping

from gofer.sources.serving import AppAddress, AppSpec, InstalledApp
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.manifest import manifest, needed
from gofer.sources.slack.settings import API_URL, APPS, BOT_TOKEN
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_object, as_text, clean, decode, encode
from gofer.values.errors import BadRequest, ConfigError, TemporaryError, Unsent
from gofer.values.outside import Http, HttpRequest
from gofer.workflows.schema import Workflow


async def identify(settings: SourceSettings, http: Http) -> InstalledApp:
    """Return the app of the bot token. Raises ConfigError when Slack does not accept it, TemporaryError."""
    headers = {"Authorization": f"Bearer {settings[BOT_TOKEN].reveal()}"}
    response = await http.send(HttpRequest("POST", f"{settings[API_URL]}auth.test", headers))
    body = _fields(response.body)
    if body.get("ok") is True:
        scopes = _listed(response.headers.get("x-oauth-scopes"))
        return InstalledApp(as_text(body.get("team")), as_text(body.get("user")), scopes)
    code = clean(as_text(body.get("error")))[:40]
    if not code or code == "ratelimited" or response.status >= 500:
        raise TemporaryError(f"{settings[API_URL]} does not answer as Slack (HTTP {response.status}).")
    raise ConfigError(
        f"Slack does not accept SLACK_BOT_TOKEN ({code}); copy the Bot User OAuth Token again from OAuth & Permissions "
        "of your app, after installing it to the workspace."
    )


async def notify(settings: SourceSettings, http: Http, channel: str, text: str) -> None:
    """Post a text into a channel. Raises Unsent if Slack refused it, TemporaryError if that is not known."""
    headers = {
        "Authorization": f"Bearer {settings[BOT_TOKEN].reveal()}",
        "Content-Type": "application/json; charset=utf-8",
    }
    content = encode({"channel": channel, "text": text, "unfurl_links": False})
    response = await http.send(HttpRequest("POST", f"{settings[API_URL]}chat.postMessage", headers, content))
    body = _fields(response.body)
    if body.get("ok") is True:
        return
    code = clean(as_text(body.get("error")))[:40]
    if response.status >= 500 or not code:
        raise TemporaryError(f"Slack answered chat.postMessage with HTTP {response.status}")
    raise Unsent(f"Slack refused chat.postMessage ({code})")


def _fields(raw: bytes) -> Mapping[str, object]:
    """Return the JSON object of an answer; empty for anything else, such as the HTML page of a proxy."""
    try:
        return as_object(decode(raw))
    except BadRequest:
        return {}


def _listed(scopes: str | None) -> frozenset[str] | None:
    if scopes is None:
        return None
    return frozenset(filter(None, scopes.replace(" ", "").split(",")))


def _manifest(workflows: Iterable[Workflow], tools: Iterable[AnyTool], address: AppAddress) -> Mapping[str, object]:
    return manifest(
        workflows, tools, name=address.name, url=address.url, socket=address.socket, sign_in=address.sign_in
    )


SLACK_APP = AppSpec(
    source="slack",
    system="Slack",
    token=BOT_TOKEN,
    longest_name=35,
    installing=f"Paste it at {APPS} under Create New App, From a manifest; docs/slack-app.md has every step.",
    manifest=_manifest,
    needed=needed,
    identify=identify,
    notify=notify,
)
