"""The words about sources in the help of commands, one line a source."""

from collections.abc import Mapping

from gofer.sources.github.manual import GITHUB
from gofer.sources.jira.manual import JIRA
from gofer.sources.manual import Manual
from gofer.sources.notion.manual import NOTION
from gofer.sources.slack.manual import SLACK

MANUALS: Mapping[str, Manual] = {
    "slack": SLACK,
    "jira": JIRA,
    "notion": NOTION,
    "github": GITHUB,
}
"""By source; a source may have none."""
WORKPLACE_MANUAL = SLACK
"""Of the source in which the company is reached, and which examples are about."""
