"""The simulated Notion for tests, evals and the demo: workspace, API, people and deliveries."""

from collections.abc import Callable, Mapping

import httpx2
from typing_extensions import override

from gofer_simulators.faults import Faults
from gofer_simulators.http_server import Vendor
from gofer_simulators.json_values import JsonObject
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.notion.delivery import Deliveries, Pace
from gofer_simulators.notion.people import People
from gofer_simulators.notion.reading_pages import ReadingPages
from gofer_simulators.notion.web_api import WebApi
from gofer_simulators.notion.world import load_world


class NotionSimulator(Vendor):
    """One Notion workspace as a web app with state. Use the simulator inside a running event loop."""

    def __init__(
        self,
        world: Mapping[str, object],
        *,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        token: str = "ntn_simulated",  # noqa: S107 - opens nothing but this simulator
        secret: str = "secret_simulated",  # noqa: S107 - likewise
        pace: Pace | None = None,
    ) -> None:
        self._token = token
        self._secret = secret
        self.workspace, capabilities = load_world(world, clock)
        self.faults = Faults()
        self.people = People(self.workspace)
        self._deliveries = Deliveries(self.workspace, http, secret, pace or Pace())
        self.workspace.announce = self._deliveries.announce
        self._web_api = WebApi(self.workspace, token, capabilities, self.faults)
        links = LocalLinks()
        pages = ReadingPages(self.workspace, links)
        super().__init__(self._deliveries, [*pages.routes(), *self._web_api.routes()], links)

    @override
    def subscribe(self, url: str) -> None:
        """Deliver events to this URL from now on, without the step of verification."""
        self._deliveries.url = url
        self._deliveries.active = True

    async def register(self, url: str) -> int:
        """Enter this URL in Notion, which sends its verification token there; return the status.

        Notion sends no event before `confirm`.
        """
        self._deliveries.url = url
        self._deliveries.active = False
        return await self._deliveries.handshake()

    def confirm(self, verification_token: str) -> bool:
        """Enter the verification token in Notion. Return whether the token is right."""
        self._deliveries.active = self._deliveries.confirms(verification_token)
        return self._deliveries.active

    @property
    def events(self) -> list[dict[str, object]]:
        """The first attempt of every event so far."""
        return list(self._deliveries.sent)

    def keep_pace(self, pace: Pace) -> None:
        """Set the times of Notion's deliveries from now on."""
        self._deliveries.pace = pace

    def hold(self) -> None:
        """Hold events back until `release`."""
        self._deliveries.hold()

    def release(self, *, reverse: bool = False, times: int = 1) -> None:
        """Send the events that are held back, each `times` times, as if earlier attempts had no answer.

        With `reverse`, send the newest event first.
        """
        self._deliveries.release(reverse=reverse, times=times)

    async def deliver(self, event: JsonObject, *, attempt_number: int = 1) -> int:
        """Make one signed delivery and return the status. Raises httpx2.TransportError without an answer."""
        return await self._deliveries.send({**event, "attempt_number": attempt_number})

    @override
    def settings(self, url: str) -> Mapping[str, str]:
        return {"NOTION_BASE_URL": url, "NOTION_TOKEN": self._token, "NOTION_WEBHOOK_SECRET": self._secret}

    @property
    @override
    def written_origin(self) -> str:
        return "https://www.notion.so"

    @override
    def state(self) -> dict[str, object]:
        return self.workspace.state()

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Method and path of every request so far."""
        return list(self._web_api.log)
