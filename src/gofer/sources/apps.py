"""The apps that operators install, one line per source."""

from collections.abc import Sequence

from gofer.sources.serving import AppSpec
from gofer.sources.slack.app import SLACK_APP

APPS: Sequence[AppSpec] = (SLACK_APP,)
"""The apps of all sources that have one with a manifest."""
