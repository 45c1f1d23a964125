"""Events from given payloads, for `gofer run`, `gofer explain` and programs, and from the times of schedules.

Receivers translate these payloads and do not verify them.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gofer.check.explain import DeliveryPath
from gofer.sources.receiver import (
    Arrival,
    Click,
    Handshake,
    Ignored,
    PossibleFeedback,
    Registration,
    Stop,
    is_form,
    refuse_unverified,
)
from gofer.sources.receivers import BY_SOURCE, PATHS
from gofer.sources.registry import WORKPLACE
from gofer.sources.runs.receiver import RunsReceiver
from gofer.sources.schedule.receiver import ScheduleReceiver, scheduled
from gofer.sources.webhook.hook import Hook, Standard, read_hooks
from gofer.sources.webhook.receiver import WebhookReceiver
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Event
from gofer.values.schedules.planned import planned
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes

SOURCES: Sequence[str] = (*PATHS, "webhook", "schedule", "runs")
"""The sources that can start a workflow."""
_DELIVERY = ("webhook-id", "<webhook-id>")
"""A placeholder for the id that a sender of Standard Webhooks makes for each call."""

_LEAST_MS = 100_000_000_000
"""The least number that is a time in milliseconds: a day of 1973. As seconds, it is the year 5138."""

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Wording:
    """The names of the parts of an event input in error messages, for a command line or a program."""

    source: str
    hook: str
    file: str
    """The option or parameter that takes the payload."""
    header: str
    """A header, with `{}` for its name and for its value."""


OPTIONS = Wording(
    source="with --source",
    hook="with --hook",
    file="a file with the payload by --event",
    header='--header "{}: {}"',
)
"""The names at a command line."""
PARAMETERS = Wording(
    source="by source=",
    hook="by hook=",
    file="a payload by body=",
    header='headers=[("{}", "{}")]',
)
"""The names in a program."""


def way(
    catalog: Catalog, source: str, headers: Headers = (), hook: str = "", wording: Wording = OPTIONS
) -> DeliveryPath:
    """Return the receiver of a source's payloads, and the routes that they may match.

    `hook` names the webhook. It may be empty if there is only one. Raises ConfigError for an unknown webhook.
    """
    routes = read_routes(catalog.routes())
    match source:
        case "webhook":
            found = find_hook(catalog, hook, wording)
            has_id = any(name.lower() == "webhook-id" for name, _ in headers)
            if isinstance(found.auth, Standard) and not has_id:
                headers = [*headers, _DELIVERY]
            return DeliveryPath(WebhookReceiver(found, refuse_unverified), routes, found.path, headers, whole=True)
        case "schedule":
            plans = [planned(name, compiled) for name, compiled in catalog.schedules()]
            return DeliveryPath(ScheduleReceiver(plans), routes, "", headers)
        case "runs":
            owners = {name: loaded.workflow.owner for name, loaded in catalog.workflows.items()}
            return DeliveryPath(RunsReceiver(owners, WORKPLACE.channels.of), routes, "", headers)
        case _:
            spec = BY_SOURCE[source]
            return DeliveryPath(spec.unverified, routes, spec.path, headers)


def find_hook(catalog: Catalog, name: str, wording: Wording = OPTIONS) -> Hook:
    """Return the webhook with a name, or the only webhook if `name` is empty. Raises ConfigError."""
    hooks = {hook.name: hook for hook in read_hooks(catalog.hooks, {})}
    known = ", ".join(hooks) or "none"
    if name in hooks:
        return hooks[name]
    if name:
        raise ConfigError(f"There is no webhook {name[:80]!r} in agents/; there are: {known}.")
    if len(hooks) != 1:
        raise ConfigError(f"Name the webhook {wording.hook}; there are: {known}.")
    return next(iter(hooks.values()))


def hook_name(path: str) -> str:
    """Return the name of the webhook at a path. Raises ConfigError."""
    name = path.removeprefix("/hooks/")
    if name == path or not name:
        raise ConfigError(f"--path is {path[:80]!r}; webhooks are at /hooks/<name>.")
    return name


@dataclass(frozen=True, slots=True)
class EventInput:
    """The parts of an event that a person or a program gives."""

    file: str = ""
    """The name of the body's file, for error messages."""
    body: bytes | None = None
    """The body as its sender sends it. None for the time of a schedule."""
    source: str = ""
    """The source. Empty means that the workflow and the body determine it."""
    headers: Headers = ()
    hook: str = ""
    """The webhook that is called. Empty for the webhook that the workflow names."""
    wording: Wording = OPTIONS


def event_input(catalog: Catalog, workflow: str, given: EventInput, now: float) -> Event:
    """Return the event to run a workflow on.

    `now` in unix seconds is the nominal time of a schedule without a body.
    Raises ConfigError for a body that starts no run, and if the input leaves the source or the webhook open.
    """
    loaded = catalog.workflows.get(workflow)
    if loaded is None:
        known = ", ".join(catalog.workflows)
        raise ConfigError(f"There is no workflow {workflow!r} in agents/; there are: {known}.")
    if not given.hook:
        hooks = {trigger.hook.name for trigger in loaded.workflow.when if trigger.hook}
        if len(hooks) == 1:
            given = replace(given, hook=hooks.pop())
    source = given.source or _source(catalog, loaded, given)
    if given.body is None:
        if source != "schedule":
            raise ConfigError(f"Name {given.wording.file}; only a schedule needs none.")
        return _scheduled(catalog, workflow, given.wording, now)
    come_in = way(catalog, source, given.headers, given.hook, given.wording)
    event = _translated(come_in, source, given, given.body)
    if source == "schedule" and event.facts.get("workflow") != workflow:
        raise ConfigError(f"{given.file} is for the schedule of another workflow; name {workflow!r} in it.")
    return event


def sent_at(event: Event, body: bytes) -> float | None:
    """Return the time in the body of an event, in unix seconds; None for a body without one."""
    if event.source == "schedule":
        keys: Sequence[str] = ("scheduled",)
    elif event.source in BY_SOURCE:
        keys = BY_SOURCE[event.source].sent_at
    else:
        return None
    with contextlib.suppress(BadRequest):
        value: object = decode(body)
        for key in keys:
            value = as_object(value).get(key)
        return _unix_seconds(value)
    return None


def _unix_seconds(value: object) -> float | None:
    """Return a time as vendors write it: an ISO time, or a number of seconds or milliseconds."""
    match value:
        case int() if value >= _LEAST_MS:
            return value / 1000
        case int():
            return float(value)
        case str():
            with contextlib.suppress(ValueError):
                return datetime.fromisoformat(value).timestamp()
            return None
        case _:
            return None


def _source(catalog: Catalog, loaded: Loaded, given: EventInput) -> str:
    """Return the only source of a workflow, or its only source with such bodies. Raises ConfigError otherwise."""
    sources = list(dict.fromkeys(trigger.kind.partition(".")[0] for trigger in loaded.workflow.when))
    if given.body is None and "schedule" in sources:
        return "schedule"
    if len(sources) == 1 or given.body is None:
        return sources[0]
    # A webhook takes any body, so it decides nothing.
    fitting = [source for source in sources if source != "webhook" and _fits(catalog, source, given, given.body)]
    if len(fitting) == 1:
        return fitting[0]
    raise ConfigError(f"Name the sender of this payload ({' or '.join(sources)}) {given.wording.source}.")


def _fits(catalog: Catalog, source: str, given: EventInput, body: bytes) -> bool:
    come_in = way(catalog, source, given.headers)
    try:
        match come_in.receiver.translate(come_in.request(body)):
            case Event() | PossibleFeedback(event=Event()):
                return True
            case _:
                return False
    except BadRequest:
        return False


def _scheduled(catalog: Catalog, workflow: str, wording: Wording, now: float) -> Event:
    plans = [planned(name, compiled) for name, compiled in catalog.schedules() if name == workflow]
    if not plans:
        raise ConfigError(f"The workflow {workflow!r} has no schedule; name {wording.file}.")
    return scheduled(workflow, plans[0].schedule, datetime.fromtimestamp(int(now), UTC))


def _translated(come_in: DeliveryPath, source: str, given: EventInput, body: bytes) -> Event:
    if not come_in.whole and not is_form(body):
        try:
            decode(body)
        except BadRequest as error:
            raise ConfigError(f"{given.file} is not JSON; save the payload as its sender sent it.") from error
    _check_kind_header(source, given)
    try:
        return _event(come_in.receiver.translate(come_in.request(body)))
    except BadRequest as error:
        raise ConfigError(f"{given.file} starts nothing: {error}") from error


def _check_kind_header(source: str, given: EventInput) -> None:
    """Raise ConfigError if the source names the kind of event in a header and that header is missing."""
    spec = BY_SOURCE.get(source)
    if spec is None or not spec.kind_header:
        return
    needed = spec.kind_header.partition(":")[0].lower()
    if not any(name.lower() == needed for name, _ in given.headers):
        name, _, value = spec.kind_header.partition(": ")
        example = given.wording.header.format(name, value)
        raise ConfigError(f"{spec.system} names the kind of event in a header; add it, for example {example}.")


def _event(arrival: Arrival) -> Event:
    match arrival:
        case Event() as event:
            return event
        case PossibleFeedback(event=Event() as event):
            return event
        case PossibleFeedback():
            raise ConfigError("This payload starts nothing: a person took a reaction back.")
        case Ignored(reason=reason):
            raise ConfigError(f"This payload starts nothing: {reason}.")
        case Stop():
            raise ConfigError("This payload starts nothing: it asks Gofer to stop a run.")
        case Click():
            raise ConfigError("This payload starts nothing: it reports that a person pressed a button.")
        case Handshake():
            raise ConfigError("This payload starts nothing: its sender tests the URL with it.")
        case Registration():
            raise ConfigError("This payload starts nothing: its sender registers a secret with it.")
