"""The connections that Gofer opens itself, one line per source."""

from collections.abc import Sequence

from gofer.sources.serving import Connection
from gofer.sources.slack.settings import APP_TOKEN

CONNECTIONS: Sequence[Connection] = (Connection("slack", "Socket Mode", APP_TOKEN, "gofer.sources.slack.socket_mode"),)
"""The connections of all sources that deliver through one."""
