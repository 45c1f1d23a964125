"""The texts about sources in the help of commands, one line per source."""

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
"""Texts by source. A source may have none."""
WORKPLACE_MANUAL = SLACK
"""The texts of the company's workplace, which the examples use."""
