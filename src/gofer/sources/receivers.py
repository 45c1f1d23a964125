"""The registry of sources that send deliveries, one line a source, and the receivers of those that are set up.

What is imported here is on the way of every cold start to its first 2xx.
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
"""Every source that sends deliveries. Webhooks are not among them: workflow files name those."""
BY_SOURCE: Mapping[str, ReceiverSpec] = {spec.source: spec for spec in RECEIVERS}
PATHS: Mapping[str, str] = {spec.source: spec.path for spec in RECEIVERS}
"""Where each source delivers its events."""
SETTINGS: Sequence[AnySetting] = tuple(setting for spec in RECEIVERS for setting in spec.settings)
"""The settings of every source."""
_NO_DELIVERIES = EventSpec()


def events_of(kind: str) -> EventSpec:
    """Return what events of a kind carry; of a source without deliveries nothing is known."""
    spec = BY_SOURCE.get(kind.partition(".")[0])
    if spec is None:
        return _NO_DELIVERIES
    return spec.events


def known(event: Event) -> Mapping[str, object]:
    """Return the facts that an event carries, with its text as `says` unless its receiver said it otherwise.

    The receiver and admission both begin with these.
    """
    return {"says": events_of(event.source).said(event.text), **event.facts}


def secret_settings(hooks: Iterable[Hook]) -> Mapping[str, str]:
    """Return the setting with the secret of every source by its path, also of those that are not set up."""
    found = {path: spec.secret.name for spec in RECEIVERS for path in spec.paths}
    for hook in hooks:
        found[hook.path] = f"{variable(hook.name)} or WEBHOOK_SECRET"
    return found


def receivers(settings: SourceSettings, window: Registering | None = None) -> dict[str, Receiver]:
    """Return the receivers of the sources that are set up, by path; a source without a secret has none.

    With a window, a source that registers its secret has a receiver too, which takes one while the window is open.
    """
    found: dict[str, Receiver] = {}
    for spec in RECEIVERS:
        found |= spec.make(settings, window)
    return found
