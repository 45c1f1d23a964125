"""The apps that operators install, one line a source."""

from collections.abc import Sequence

from gofer.sources.serving import AppSpec
from gofer.sources.slack.app import SLACK_APP

APPS: Sequence[AppSpec] = (SLACK_APP,)
"""Every source that has an app with a manifest."""
