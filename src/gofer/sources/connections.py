"""The connections that Gofer opens itself, one line per source."""

from collections.abc import Sequence

from gofer.sources.serving import Connection
from gofer.sources.slack.socket_mode import SOCKET_MODE

CONNECTIONS: Sequence[Connection] = (SOCKET_MODE,)
"""The connections of all sources that deliver through one."""
