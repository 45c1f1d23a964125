"""The registry of triggers for the form of workflow files, one line per source.

This module imports neither clients nor tools, because every reader of workflow files imports it.
"""

from collections.abc import Mapping, Sequence

from gofer.sources.github.triggers import GITHUB
from gofer.sources.jira.triggers import JIRA
from gofer.sources.notion.triggers import NOTION
from gofer.sources.runs.triggers import RUNS
from gofer.sources.schedule.triggers import SCHEDULE
from gofer.sources.slack.triggers import SLACK
from gofer.sources.webhook.triggers import WEBHOOK
from gofer.workflows.when import OddWord, TriggerKind, TriggerSpec
from gofer.workflows.writes import Listable

TRIGGERS: Sequence[TriggerSpec] = (
    SLACK,
    JIRA,
    NOTION,
    GITHUB,
    WEBHOOK,
    SCHEDULE,
    RUNS,
)
TRIGGER_KINDS: Sequence[TriggerKind] = tuple(kind for spec in TRIGGERS for kind in spec.kinds)
"""Every kind of trigger, in the order in which files and documents list them."""
DESTINATIONS: Mapping[str, Listable] = {spec.writes.system: spec.writes for spec in TRIGGERS if spec.writes}
"""The systems whose places workflow files can list, by the key of each."""
ASKING = frozenset(spec.kinds[0].source for spec in TRIGGERS if spec.asks)
"""The sources in which Gofer can ask the person who started a run about any destination."""
SERVING = frozenset(spec.kinds[0].source for spec in TRIGGERS if spec.serves)
"""The sources in which customers start runs."""
CLIENTS: Sequence[str] = [client for spec in TRIGGERS for client in spec.clients]
"""Python packages of clients for the sources."""
STOP_SIGNS = frozenset(emoji for spec in TRIGGERS for emoji in spec.stop_signs)
"""The names of the emoji with which people stop a run."""
WORKPLACE_SOURCE = SLACK.kinds[0].source
"""The source of the workplace."""
ODD_EMOJI: Sequence[OddWord] = [one for spec in TRIGGERS for one in spec.odd_emoji]
"""The odd words for an emoji."""
WORKPLACE_NAME = "Slack"
"""The name of the workplace: the system in which Gofer reaches the people of the company."""
BY_NAME: Mapping[str, TriggerKind] = {kind.name: kind for kind in TRIGGER_KINDS}
KINDS: Sequence[str] = tuple(BY_NAME)
"""The name of every kind of trigger, as workflow files write it."""
CONTINUING: frozenset[str] = frozenset(kind.name for kind in TRIGGER_KINDS if kind.continues)
"""The kinds of triggers for events in which a person replies.

A run of another kind inherits nothing from earlier runs.
"""
