"""The registry of sources that send deliveries, one line per source, and the receivers of the sources that are set up.

Every import of this module delays the first answer after a cold start.
"""

from collections.abc import Iterable, Mapping, Sequence

from gofer.sources.github.deliveries import GITHUB
from gofer.sources.jira.deliveries import JIRA
from gofer.sources.notion.deliveries import NOTION
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import AnySetting, EventSpec, ReceiverSpec
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.deliveries import SLACK
from gofer.sources.webhook.hook import Hook, variable
from gofer.values.events import Event

RECEIVERS: Sequence[ReceiverSpec] = (
    SLACK,
    JIRA,
    NOTION,
    GITHUB,
)
"""Every source that sends deliveries, except webhooks, which workflow files define."""
BY_SOURCE: Mapping[str, ReceiverSpec] = {spec.source: spec for spec in RECEIVERS}
PATHS: Mapping[str, str] = {spec.source: spec.path for spec in RECEIVERS}
"""The URL path of each source's deliveries."""
SETTINGS: Sequence[AnySetting] = tuple(setting for spec in RECEIVERS for setting in spec.settings)
"""The settings of all sources."""
_NO_DELIVERIES = EventSpec()


def events_of(kind: str) -> EventSpec:
    """Return the facts in events of a kind; an empty specification for a source without deliveries."""
    spec = BY_SOURCE.get(kind.partition(".")[0])
    if spec is None:
        return _NO_DELIVERIES
    return spec.events


def known(event: Event) -> Mapping[str, object]:
    """Return the facts in an event, with its text as `says` unless its receiver set that fact.

    Both the receiver and admission begin with these facts.
    """
    return {"says": events_of(event.source).said(event.text), **event.facts}


def secret_settings(hooks: Iterable[Hook]) -> Mapping[str, str]:
    """Return the name of the setting with the secret for each path, including sources that are not set up."""
    found = {path: spec.secret.name for spec in RECEIVERS for path in spec.paths}
    for hook in hooks:
        found[hook.path] = f"{variable(hook.name)} or WEBHOOK_SECRET"
    return found


def receivers(settings: SourceSettings, window: Registering | None = None) -> dict[str, Receiver]:
    """Return the receivers of the sources that are set up, by path. A source without a secret has none.

    With a window, a source that registers its secret has a receiver too, which accepts one while the window is open.
    """
    found: dict[str, Receiver] = {}
    for spec in RECEIVERS:
        found |= spec.make(settings, window)
    return found
