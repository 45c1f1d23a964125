"""The registry of triggers, one line a source: what may start a workflow, for the form of workflow files.

It loads neither clients nor tools, because every reader of workflow files imports it.
"""

from collections.abc import Mapping, Sequence

from gofer.sources.github.triggers import GITHUB
from gofer.sources.jira.triggers import JIRA
from gofer.sources.notion.triggers import NOTION
from gofer.sources.schedule.triggers import SCHEDULE
from gofer.sources.slack.triggers import SLACK
from gofer.sources.webhook.triggers import WEBHOOK
from gofer.workflows.when import TriggerKind, TriggerSpec
from gofer.workflows.writes import Listable

TRIGGERS: Sequence[TriggerSpec] = (
    SLACK,
    JIRA,
    NOTION,
    GITHUB,
    WEBHOOK,
    SCHEDULE,
)
TRIGGER_KINDS: Sequence[TriggerKind] = tuple(kind for spec in TRIGGERS for kind in spec.kinds)
"""Every kind of trigger, in the order in which files and documents list them."""
DESTINATIONS: Mapping[str, Listable] = {spec.writes.system: spec.writes for spec in TRIGGERS if spec.writes}
"""The systems that files can list places of, by the key of each."""
ASKING = frozenset(spec.kinds[0].source for spec in TRIGGERS if spec.asks)
"""The sources in which the person who started a run can be asked about any destination."""
CLIENTS: Sequence[str] = [client for spec in TRIGGERS for client in spec.clients]
"""Python packages by which programs reach a source."""
WORKPLACE_NAME = "Slack"
"""The system in which the people of the company are reached, as they know it."""
BY_NAME: Mapping[str, TriggerKind] = {kind.name: kind for kind in TRIGGER_KINDS}
KINDS: Sequence[str] = tuple(BY_NAME)
"""Every kind of trigger, as files name it."""
CONTINUING: frozenset[str] = frozenset(kind.name for kind in TRIGGER_KINDS if kind.continues)
"""The kinds of events in which a person replies. A run of another kind inherits nothing from earlier runs."""
