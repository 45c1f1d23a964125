"""Deliveries of the simulated GitHub through the GitHub receiver: signed, translated, and identical when repeated."""

import asyncio

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.receiver import Handshake, Ignored, RawRequest
from gofer.values.events import Event
from gofer.values.secret import Secret
from gofer_simulators.github.simulator import GitHubSimulator
from support.stand_ins import SetClock
from support.vendors.github import SECRET, WORLD

RECEIVER = GitHubReceiver((Secret(SECRET),))


def verdicts(form: bool) -> list[Event | Handshake | Ignored]:
    """Return what the receiver makes of every delivery, with each delivery sent twice."""
    found: list[Event | Handshake | Ignored] = []

    async def take(request: Request) -> Response:
        raw = RawRequest("POST", "/github/webhook", request.headers.items(), await request.body())
        RECEIVER.verify(raw, 0.0)
        found.append(RECEIVER.translate(raw))
        return Response()

    async def run() -> None:
        app = Starlette(routes=[Route("/github/webhook", take, methods=["POST"])])
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
            github = GitHubSimulator(WORLD, clock=SetClock().now, http=http)
            github.subscribe("http://gofer/github/webhook", form=form)
            act(github)
            await github.settled()
            for delivery in github.deliveries:
                assert await github.redeliver(delivery.id) == 200

    asyncio.run(run())
    return found


def act(github: GitHubSimulator) -> None:
    """Perform the acts of a whole morning within one second."""
    people = github.people
    pull = people.open_pull("acme/app", "sam", "New", {"a.txt": "1\n"}, head="topic", draft=True, labels=["a", "b"])
    issue = people.open_issue("acme/app", "kim", "Broken", "See.", ["a"])
    people.ready(pull, "sam")
    people.label(pull, "sam", "c")
    people.edit(pull, "sam", "Newer")
    people.edit(pull, "sam", "Newest")
    people.comment(pull, "ada", "Nice")
    people.comment(pull, "ada", "Nice")
    people.comment(issue, "ada", "Why?")
    people.request_reviews(pull, "sam", ["ada", "gofer[bot]"], ["core"])
    people.review(pull, "ada", "APPROVED")
    people.push("acme/app", "sam", "More", {"b.txt": "2\n"}, branch="topic")
    people.push("acme/app", "sam", "Less", {"b.txt": None}, branch="topic")
    people.close(issue, "kim")
    people.merge(pull, "sam")


@pytest.mark.parametrize("form", [False, True])
def test_simulated_github_delivery_sent_twice_has_the_same_identity(form: bool) -> None:
    found = verdicts(form)
    assert [type(one) for one in found].count(Handshake) == 2
    events = [one for one in found if isinstance(one, Event)]
    assert len(events) == len(found) - 2 == 46
    acts = {(event.kind, *event.identity): event for event in events}
    assert len(acts) == 23
    merges = [event for event in acts.values() if "merged" in event.facts.get("action", [])]
    assert [event.conversation for event in merges] == ["github:acme/app:9"]
