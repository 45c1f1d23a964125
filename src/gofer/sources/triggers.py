"""The registry of trigger kinds, one line a source."""

from collections.abc import Mapping, Sequence

from gofer.sources.github import triggers as github
from gofer.sources.jira import triggers as jira
from gofer.sources.notion import triggers as notion
from gofer.sources.schedule import triggers as schedule
from gofer.sources.slack import triggers as slack
from gofer.sources.webhook import triggers as webhook
from gofer.workflows.when import TriggerKind

TRIGGER_KINDS: Sequence[TriggerKind] = (
    *slack.KINDS,
    *jira.KINDS,
    *notion.KINDS,
    *github.KINDS,
    *webhook.KINDS,
    *schedule.KINDS,
)
"""Every kind of trigger, in the order in which files and documents list them."""
BY_NAME: Mapping[str, TriggerKind] = {kind.name: kind for kind in TRIGGER_KINDS}
KINDS: Sequence[str] = tuple(BY_NAME)
"""Every kind of trigger, as files name it."""
CONTINUING: frozenset[str] = frozenset(kind.name for kind in TRIGGER_KINDS if kind.continues)
"""The kinds of events in which a person replies. A run of another kind inherits nothing from earlier runs."""
