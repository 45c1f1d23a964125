"""The registry of sources, one line each, and the workplace: the source where Gofer reaches the company's people."""

from collections.abc import Mapping

from gofer.sources.github.source import GITHUB
from gofer.sources.jira.source import JIRA
from gofer.sources.notion.source import NOTION
from gofer.sources.part_values import Person, SourceContext
from gofer.sources.program.source import PROGRAM
from gofer.sources.runs.source import RUNS
from gofer.sources.schedule.source import SCHEDULE
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.source import SLACK, SLACK_WORKPLACE
from gofer.sources.source import Source, Workplace
from gofer.sources.subject import context_of_event
from gofer.sources.webhook.source import WEBHOOK
from gofer.values.addresses import host_of
from gofer.values.events import Event

SOURCES: Mapping[str, Source] = {
    "slack": SLACK,
    "jira": JIRA,
    "notion": NOTION,
    "github": GITHUB,
    "webhook": WEBHOOK,
    "schedule": SCHEDULE,
    "runs": RUNS,
    "program": PROGRAM,
}
"""Sources by `event.source`."""
WORKPLACE: Workplace = SLACK_WORKPLACE
"""The system with the user groups, the owners of workflows and the channel for logs."""


def _unknown_context(event: Event, person: Person) -> SourceContext:
    return context_of_event(event, f"Something happened: {event.kind}.")


SHARED_HOSTS = frozenset(
    {
        *(
            "github.com",
            "api.github.com",
            "gist.github.com",
            "raw.githubusercontent.com",
            "gitlab.com",
            "bitbucket.org",
        ),
        *("docs.google.com", "drive.google.com", "sites.google.com", "notion.so", "www.notion.so", "app.notion.com"),
        *("slack.com", "app.slack.com", "dropbox.com", "www.dropbox.com", "youtube.com", "www.youtube.com"),
    }
)
"""Hosts on which anyone may have pages: an address there is a link only if the run read it."""


def own_hosts(settings: SourceSettings) -> frozenset[str]:
    """Return the hosts of the company's own sites: not those on which anyone may have pages."""
    sites = (settings[site] for source in SOURCES.values() for site in source.sites)
    return frozenset(map(host_of, sites)) - SHARED_HOSTS - {""}


UNKNOWN = Source("", "", _unknown_context)
"""The source of an event from no registered system. Gofer reads nothing more about the event and answers nowhere."""


def source_of(event: Event) -> Source:
    """Return the source of an event."""
    return SOURCES.get(event.source, UNKNOWN)
