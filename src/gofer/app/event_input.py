"""With which event does a run by hand begin: what somebody has in a file, or a time that has come?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gofer.app.unverified_payloads import Headers, way
from gofer.check.explain import Way
from gofer.sources.receiver import Arrival, Click, Handshake, Ignored, Registration, Stop, is_form
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.schedule.receiver import scheduled
from gofer.values.canonical_json import decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.events import Event
from gofer.values.schedules.planned import planned
from gofer.workflows.load import Catalog, Loaded


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody says of the event."""

    file: str = ""
    """Where the body stands, for people."""
    body: bytes | None = None
    """As the sender sends it; None is a time that has come."""
    source: str = ""
    """Who sends it; empty where the workflow and the body decide."""
    headers: Headers = ()
    hook: str = ""
    """The webhook that is called; empty for the one that the workflow names."""


def event_input(catalog: Catalog, workflow: str, told: Told, now: float) -> Event:
    """The event that a workflow is run on; `now` in unix seconds is the nominal time of a schedule without a body.

    Raises ConfigError for a body that starts nothing, and when more must be said.
    """
    loaded = catalog.workflows.get(workflow)
    if loaded is None:
        known = ", ".join(catalog.workflows)
        raise ConfigError(f"There is no workflow {workflow!r} in agents/; there are: {known}.")
    if not told.hook:
        own = list(dict.fromkeys(trigger.hook.name for trigger in loaded.workflow.when if trigger.hook))
        told = replace(told, hook=own[0] if len(own) == 1 else "")
    source = told.source or _source(catalog, loaded, told)
    if told.body is None:
        if source != "schedule":
            raise ConfigError("Name a file with the payload by --event; only a schedule needs none.")
        return _now(catalog, workflow, now)
    event = _translated(way(catalog, source, told.headers, told.hook), source, told.file, told.body, told.headers)
    if source == "schedule" and event.facts.get("workflow") != workflow:
        raise ConfigError(f"{told.file} is a time of another workflow; write {workflow!r} there.")
    return event


def _source(catalog: Catalog, loaded: Loaded, told: Told) -> str:
    """Who sends what starts a workflow: the only one, or the only one whose event the body is."""
    sources = list(dict.fromkeys(trigger.kind.partition(".")[0] for trigger in loaded.workflow.when))
    if told.body is None and "schedule" in sources:
        return "schedule"
    if len(sources) == 1 or told.body is None:
        return sources[0]
    # Whatever it is, a webhook would take it: that decides nothing.
    fitting = [source for source in sources if source != "webhook" and _fits(catalog, source, told, told.body)]
    if len(fitting) == 1:
        return fitting[0]
    raise ConfigError(f"Say with --source who sends this payload: {_or(sources)}.")


def _fits(catalog: Catalog, source: str, told: Told, body: bytes) -> bool:
    come_in = way(catalog, source, told.headers)
    try:
        return isinstance(come_in.receiver.translate(come_in.request(body)), Event)
    except BadRequest:
        return False


def _now(catalog: Catalog, workflow: str, now: float) -> Event:
    plans = [planned(name, compiled) for name, compiled in catalog.schedules() if name == workflow]
    if not plans:
        raise ConfigError(f"The workflow {workflow!r} has no schedule; name a file with a payload by --event.")
    return scheduled(workflow, plans[0].schedule, datetime.fromtimestamp(int(now), UTC))


def _translated(come_in: Way, source: str, file: str, body: bytes, headers: Headers) -> Event:
    if not come_in.whole and not is_form(body):
        try:
            decode(body)
        except BadRequest as error:
            raise ConfigError(f"{file} is not JSON; save the payload as its sender sent it.") from error
    _check_kind_header(source, headers)
    try:
        return _event(come_in.receiver.translate(come_in.request(body)))
    except BadRequest as error:
        raise ConfigError(f"{file} starts nothing: {error}") from error


def _check_kind_header(source: str, headers: Headers) -> None:
    """Raise ConfigError where the source says in a header what happened, and the header is not given."""
    spec = BY_SOURCE.get(source)
    if spec is None or not spec.kind_header:
        return
    needed = spec.kind_header.partition(":")[0].lower()
    if not any(name.lower() == needed for name, _ in headers):
        raise ConfigError(
            f'{spec.system} says in a header what happened; add it, such as --header "{spec.kind_header}".'
        )


def _event(arrival: Arrival) -> Event:
    match arrival:
        case Event() as event:
            return event
        case Ignored(reason=reason):
            raise ConfigError(f"This payload starts nothing: {reason}.")
        case Stop():
            raise ConfigError("This payload starts nothing: it stops what is under way.")
        case Click():
            raise ConfigError("This payload starts nothing: it is the press of a button.")
        case Handshake():
            raise ConfigError("This payload is its sender's test of the URL; it starts nothing.")
        case Registration():
            raise ConfigError("This payload offers a secret; it starts nothing.")


def _or(words: Sequence[str]) -> str:
    return " or ".join(words)
