"""Through which door would a payload come that somebody has in a file? Each translates, and none of them verifies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.app.receivers import PATHS
from gofer.check.explain import Way, is_form
from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.receiver import Arrival, RawRequest, Receiver
from gofer.sources.schedule.receiver import ScheduleReceiver
from gofer.sources.slack.interactivity import INTERACTIONS, InteractivityReceiver
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.webhook.hook import Hook, Standard, every_hook
from gofer.sources.webhook.receiver import WebhookReceiver
from gofer.values.canonical_json import as_object, as_text, decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.schedules.planned import planned
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes

SOURCES: Sequence[str] = (*PATHS, "webhook", "schedule")
"""Who can send something that starts a workflow."""
_DELIVERY = ("webhook-id", "<webhook-id>")
"""Stands for the id that a sender of Standard Webhooks makes up for each call."""

Headers = Sequence[tuple[str, str]]


def way(catalog: Catalog, source: str, headers: Headers = (), hook: str = "") -> Way:
    """How payloads of a source come in, and what they may start.

    `hook` names the webhook, and may be empty where there is one only. Raises ConfigError when it names none.
    """
    routes = read_routes(catalog.routes())
    match source:
        case "webhook":
            found = find_hook(catalog, hook)
            named = any(name.lower() == "webhook-id" for name, _ in headers)
            told = [*headers, _DELIVERY] if isinstance(found.auth, Standard) and not named else headers
            return Way(WebhookReceiver(found, _refuse), routes, found.path, told, whole=True)
        case "schedule":
            plans = [planned(name, compiled) for name, compiled in catalog.schedules()]
            return Way(ScheduleReceiver(plans), routes, "", headers)
        case _:
            return Way(_VENDORS[source], routes, PATHS[source], headers)


def find_hook(catalog: Catalog, name: str) -> Hook:
    """The webhook of a name, or the only one. Raises ConfigError."""
    hooks = {hook.name: hook for hook in every_hook(catalog.hooks, {})}
    known = ", ".join(hooks) or "none"
    if name in hooks:
        return hooks[name]
    if name:
        raise ConfigError(f"There is no webhook {name[:80]!r} in agents/; there are: {known}.")
    if len(hooks) != 1:
        raise ConfigError(f"Say with --hook which webhook is called; there are: {known}.")
    return next(iter(hooks.values()))


def hook_name(path: str) -> str:
    """The name of the webhook at a path. Raises ConfigError."""
    name = path.removeprefix("/hooks/")
    if name == path or not name:
        raise ConfigError(f"--path is {path[:80]!r}; webhooks are at /hooks/<name>.")
    return name


def _refuse(request: RawRequest, now: float) -> None:
    raise BadRequest(401, "Nobody is let in here.")


@dataclass(frozen=True, slots=True)
class _Slack:
    """Both entrances of Slack: what happens there, and what people press."""

    def verify(self, request: RawRequest, now: float) -> None:
        """See Door.verify."""
        _refuse(request, now)

    def translate(self, request: RawRequest) -> Arrival:
        """See Door.translate."""
        return (InteractivityReceiver(()) if _interacts(request.body) else SlackReceiver(())).translate(request)


def _interacts(body: bytes) -> bool:
    return is_form(body) or as_text(as_object(decode(body)).get("type")) in INTERACTIONS


_VENDORS: Mapping[str, Receiver] = {
    "slack": _Slack(),
    "jira": JiraReceiver(()),
    # As if its window were open: what a token is for does not depend on the moment.
    "notion": NotionReceiver((), registration=lambda: True),
    "github": GitHubReceiver(()),
}
