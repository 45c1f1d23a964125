"""Gofer's pages as they are deployed, over the state of a company: people sign in with its simulated Slack."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.applications import Starlette

from gofer.app.pages.run_pages import Pages
from gofer.app.pages.sign_in import sign_in
from gofer.sources.slack.openid import SlackOpenId
from gofer.sources.slack.page_requests import SlackWeb
from gofer.sources.slack.people import SlackPeople
from gofer.values.secret import Secret
from support.app.company import Company
from support.stand_ins import make_outside
from support.vendors.slack import SimulatedHttp

KEY = Secret("ab" * 32)
PAGES = "https://gofer.acme.test"


@dataclass
class SignedInPages:
    """The pages before people who signed in."""

    app: Starlette
    slack: httpx2.AsyncClient

    async def get(self, user: str, path: str, accept: str = "application/json") -> httpx2.Response:
        """Return a page as a user of Slack who signs in for it."""
        async with self.signed_in(user) as browser:
            return await browser.get(path, headers={"accept": accept})

    @asynccontextmanager
    async def signed_in(self, user: str) -> AsyncGenerator[httpx2.AsyncClient]:
        """Yield the browser of a user of Slack who signed in."""
        async with self.stranger() as browser:
            begun = await browser.get("/sign-in?to=/runs")
            agreed = await self.slack.get(f"{begun.headers['location']}&as={user}")
            await browser.get(agreed.headers["location"].removeprefix(PAGES))
            yield browser

    @asynccontextmanager
    async def stranger(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """Yield the browser of a person who did not sign in."""
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=self.app), base_url=PAGES) as browser:
            yield browser


@asynccontextmanager
async def signed_in_pages(made: Company) -> AsyncGenerator[SignedInPages]:
    """Serve the state of a company to people who sign in."""
    openid = made.slack.openid
    openid.redirect_urls.add(f"{PAGES}/sign-in/callback")
    transport = httpx2.ASGITransport(app=made.slack.app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://slack.test") as slack:
        token = Secret(made.slack.settings("https://slack.test")["SLACK_BOT_TOKEN"])
        people = SlackPeople(SlackWeb("https://slack.test/api/", token, SimulatedHttp(slack)))
        app_at_slack = SlackOpenId(people, openid.client_id, Secret(openid.client_secret), PAGES)
        stores = made.embedded.state.stores
        outside = make_outside(made.embedded.worker.services.outside.clock)
        receiver = sign_in(app_at_slack, outside, stores.journals, KEY, lambda refused: None)
        pages = Pages(stores, made.embedded.catalog, outside.clock, receiver.readers)
        app = Starlette(routes=[*receiver.routes(), *receiver.guard(pages.routes())])
        yield SignedInPages(app, slack)
