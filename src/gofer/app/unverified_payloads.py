"""The receivers of payloads that a person has in a file: they translate, and none of them verifies."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.check.explain import Way
from gofer.sources.receiver import refuse_unverified
from gofer.sources.receivers import BY_SOURCE, PATHS
from gofer.sources.schedule.receiver import ScheduleReceiver
from gofer.sources.webhook.hook import Hook, Standard, every_hook
from gofer.sources.webhook.receiver import WebhookReceiver
from gofer.values.errors import ConfigError
from gofer.values.schedules.planned import planned
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes

SOURCES: Sequence[str] = (*PATHS, "webhook", "schedule")
"""Who can send something that starts a workflow."""
_DELIVERY = ("webhook-id", "<webhook-id>")
"""Stands for the id that a sender of Standard Webhooks makes up for each call."""

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Wording:
    """How those who give a payload know the parts of what they give."""

    source: str
    hook: str
    file: str
    """What holds the payload."""
    header: str
    """A header, with `{}` for its name and for its value."""


OPTIONS = Wording("with --source", "with --hook", "a file with the payload by --event", '--header "{}: {}"')
"""At a command line."""
PARAMETERS = Wording("by source=", "by hook=", "a payload by body=", 'headers=[("{}", "{}")]')
"""In a program."""


def way(catalog: Catalog, source: str, headers: Headers = (), hook: str = "", wording: Wording = OPTIONS) -> Way:
    """How payloads of a source come in, and what they may start.

    `hook` names the webhook, and may be empty where there is one only. Raises ConfigError when it names none.
    """
    routes = read_routes(catalog.routes())
    match source:
        case "webhook":
            found = find_hook(catalog, hook, wording)
            named = any(name.lower() == "webhook-id" for name, _ in headers)
            told = [*headers, _DELIVERY] if isinstance(found.auth, Standard) and not named else headers
            return Way(WebhookReceiver(found, refuse_unverified), routes, found.path, told, whole=True)
        case "schedule":
            plans = [planned(name, compiled) for name, compiled in catalog.schedules()]
            return Way(ScheduleReceiver(plans), routes, "", headers)
        case _:
            spec = BY_SOURCE[source]
            return Way(spec.unverified, routes, spec.path, headers)


def find_hook(catalog: Catalog, name: str, wording: Wording = OPTIONS) -> Hook:
    """The webhook of a name, or the only one. Raises ConfigError."""
    hooks = {hook.name: hook for hook in every_hook(catalog.hooks, {})}
    known = ", ".join(hooks) or "none"
    if name in hooks:
        return hooks[name]
    if name:
        raise ConfigError(f"There is no webhook {name[:80]!r} in agents/; there are: {known}.")
    if len(hooks) != 1:
        raise ConfigError(f"Say {wording.hook} which webhook is called; there are: {known}.")
    return next(iter(hooks.values()))


def hook_name(path: str) -> str:
    """The name of the webhook at a path. Raises ConfigError."""
    name = path.removeprefix("/hooks/")
    if name == path or not name:
        raise ConfigError(f"--path is {path[:80]!r}; webhooks are at /hooks/<name>.")
    return name
