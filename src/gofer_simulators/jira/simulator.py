"""The simulated Jira for tests, evals and the demo: site, REST API, people and deliveries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import httpx2
from typing_extensions import override

import gofer_simulators.jira.shapes as shapes
from gofer_simulators.faults import Faults
from gofer_simulators.http_server import Vendor
from gofer_simulators.jira.adf import document
from gofer_simulators.jira.delivery import Deliveries, Flavour, Pace, Sent
from gofer_simulators.jira.issue_pages import IssuePages
from gofer_simulators.jira.people import People
from gofer_simulators.jira.rest_api import RestApi
from gofer_simulators.jira.site import Comment, User
from gofer_simulators.jira.world import load_site
from gofer_simulators.json_values import JsonObject, object_of, text_of
from gofer_simulators.local_links import LocalLinks


class JiraSimulator(Vendor):
    """One Jira site as a web app with state. Use the simulator inside a running event loop."""

    def __init__(
        self,
        world: Mapping[str, object],
        *,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        email: str = "gofer@example.com",
        token: str = "simulated-api-token",  # noqa: S107 - opens nothing but this simulator
        secret: str = "simulated-webhook-secret",  # noqa: S107 - likewise
        pace: Pace | None = None,
    ) -> None:
        self._email = email
        self._token = token
        self._secret = secret
        self.site, own_secret = load_site(world, clock)
        self._deliveries = Deliveries(http, own_secret or secret, pace or Pace(), clock)
        self.people = People(self.site, self._deliveries)
        """The actions of people."""
        self.faults = Faults()
        """The planned faults of the next requests."""
        links = LocalLinks()
        api = RestApi(self.site, self.people, email, token, self.faults)
        super().__init__(self._deliveries, [*IssuePages(self.site, links).routes(), *api.routes()], links)

    @override
    def subscribe(self, url: str, flavour: Flavour = "cloud") -> None:
        """Deliver events to this URL from now on, with the bodies and headers of Cloud or of Data Center."""
        self._deliveries.url = url
        self._deliveries.flavour = flavour

    async def deliver(self, payload: JsonObject, *, retry: int = 0) -> int:
        """Make one signed delivery and return the status. Raises httpx2.TransportError without an answer."""
        return await self._deliveries.send(payload, retry)

    @property
    def sent(self) -> Sequence[Sent]:
        """Every attempt so far, oldest first."""
        return tuple(self._deliveries.sent)

    @override
    def settings(self, url: str) -> Mapping[str, str]:
        return {
            "JIRA_BASE_URL": url,
            "JIRA_EMAIL": self._email,
            "JIRA_API_TOKEN": self._token,
            "JIRA_WEBHOOK_SECRET": self._secret,
            "JIRA_ACCOUNT_ID": self.site.account,
        }

    @property
    @override
    def written_origin(self) -> str:
        return self.site.url

    @override
    def state(self) -> dict[str, object]:
        return shapes.state(self.site)

    def adopt(self, envelope: JsonObject) -> None:
        """Add the comment of a recorded delivery to its issue if the issue does not have it."""
        told = object_of(envelope, "comment")
        author = object_of(told, "author")
        named = object_of(envelope, "issue")
        issue = self.site.find(text_of(named, "id")) or self.site.find(text_of(named, "key"))
        if issue is None or text_of(told, "id") in ("", *(one.id for one in issue.comments)):
            return
        account = text_of(author, "accountId")
        self.site.users.setdefault(account, User(account, text_of(author, "displayName")))
        body = object_of(told, "body") or document(text_of(told, "body"))
        comment = Comment(text_of(told, "id"), account, body, self.site.clock())
        self.site.put(replace(issue, comments=(*issue.comments, comment)))
