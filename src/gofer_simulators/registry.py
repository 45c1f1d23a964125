"""The simulated vendors, by the name of the source that each one simulates."""

from collections.abc import Callable, Mapping
from typing import Protocol

import httpx2

from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.http_server import Vendor
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.simulator import SlackSimulator


class Start(Protocol):
    """A function that makes a simulated vendor from its part of a world."""

    def __call__(
        self,
        world: Mapping[str, object],
        *,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        token: str,
        secret: str,
    ) -> Vendor:
        """Return the vendor. Raises ConfigError for a mistake in the world.

        The API accepts `token`, and `secret` signs the deliveries.
        """
        ...


def _slack(
    world: Mapping[str, object], *, clock: Callable[[], float], http: httpx2.AsyncClient, token: str, secret: str
) -> SlackSimulator:
    return SlackSimulator({"slack": world}, clock=clock, http=http, token=token, secret=secret)


SIMULATORS: Mapping[str, Start] = {
    "slack": _slack,
    "jira": JiraSimulator,
    "notion": NotionSimulator,
    "github": GitHubSimulator,
}
