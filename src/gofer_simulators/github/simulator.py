"""The simulated GitHub for tests, evals and the demo: repositories, REST API, people and deliveries."""

from collections.abc import Callable, Mapping, Sequence

import httpx2
from typing_extensions import override

from gofer_simulators.faults import Faults
from gofer_simulators.github.delivery import HOOK, Deliveries, Delivery
from gofer_simulators.github.issue_pages import IssuePages
from gofer_simulators.github.people import People
from gofer_simulators.github.repositories import Issue
from gofer_simulators.github.rest_api import RestApi
from gofer_simulators.github.world import load_hub
from gofer_simulators.http_server import Vendor
from gofer_simulators.json_values import JsonObject
from gofer_simulators.local_links import LocalLinks


class GitHubSimulator(Vendor):
    """The repositories of a world as a web app with state. Use the simulator inside a running event loop."""

    def __init__(
        self,
        world: Mapping[str, object],
        *,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        token: str = "github_pat_simulated",  # noqa: S107 - opens nothing but this simulator
        secret: str = "simulated-webhook-secret",  # noqa: S107 - likewise
    ) -> None:
        self._token = token
        self._secret = secret
        self._hub = load_hub(world, clock)
        self._deliveries = Deliveries(clock, http, secret)
        self.people = People(self._hub, self._deliveries)
        """The actions of people."""
        self.faults = Faults()
        """The planned faults of the next requests."""
        links = LocalLinks()
        api = RestApi(self._hub, self.people, token, self.faults)
        super().__init__(self._deliveries, [*IssuePages(self._hub, links).routes(), *api.routes()], links)

    @override
    def subscribe(self, url: str, *, form: bool = False) -> None:
        """Deliver events to this URL from now on, first a `ping`; as forms instead of JSON if `form` is true."""
        self._deliveries.url = url
        self._deliveries.form = form
        hook = {"type": "Repository", "id": HOOK, "active": True, "events": ["*"]}
        self._deliveries.announce("ping", {"zen": "Keep it logically awesome.", "hook_id": HOOK, "hook": hook})

    async def deliver(self, event: str, payload: JsonObject) -> int:
        """Make one signed delivery and return the status. Raises httpx2.TransportError without an answer."""
        return await self._deliveries.send(event, payload)

    async def redeliver(self, delivery: str) -> int:
        """Send a delivery again under its id and return the status. Raises ValueError after three days."""
        return await self._deliveries.redeliver(delivery)

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """Every delivery so far, oldest first."""
        return tuple(self._deliveries.sent)

    @override
    def settings(self, url: str) -> Mapping[str, str]:
        return {"GITHUB_API_URL": url, "GITHUB_TOKEN": self._token, "GITHUB_WEBHOOK_SECRET": self._secret}

    @property
    @override
    def written_origin(self) -> str:
        return "https://github.com"

    def issue(self, repository: str, number: int) -> Issue:
        """Return an issue or pull request. Raises GitHubRefusal."""
        return self._hub.issue(repository, number)

    @override
    def state(self) -> dict[str, object]:
        return self._hub.state()
