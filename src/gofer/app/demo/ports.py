"""The ports of the demo: always the same ones, so that its links can be copied from the documentation."""

from collections.abc import Mapping

from gofer.app.embedded.server import LOCAL, is_free
from gofer.values.errors import ConfigError

PORT = 8765
"""The port of Gofer's own pages. The simulated systems have the next ports, in the order of SYSTEMS."""
SYSTEMS = ("slack", "jira", "notion", "github")
LAST = 65535 - len(SYSTEMS)
"""The highest port at which the demo can begin."""


def ports_from(first: int) -> Mapping[str, int]:
    """Return the port of each simulated system, with Gofer's own pages at `first`; any free ports for 0.

    Raises ConfigError if a port is taken.
    """
    if first == 0:
        return {}
    ports = {name: first + number for number, name in enumerate(SYSTEMS, start=1)}
    for taken in (first, *ports.values()):
        if not is_free(taken):
            raise ConfigError(
                f"Port {taken} on {LOCAL} is already in use, and the demo needs the ports {first} to "
                f"{first + len(SYSTEMS)}. Stop the other program, or name the first of five free ports: "
                "`gofer demo --port 9000`."
            )
    return ports
