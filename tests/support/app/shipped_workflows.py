"""Events in the demo's company that trigger the shipped workflows."""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from gofer.app.demo.scenes import Outsiders
from gofer.journal.entries import FeedbackGiven
from gofer.sources.runs.follow_ups import SubjectRun, event_of
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.workspace import Channel, Message
from support.app.company import Company

CAPTAIN, CHECKOUT, SUPPORT, NEWCOMER, BOT = "U0CAPTN0", "U0CHECK0", "U0SUPPT0", "U0NEWCO0", "U0GOFER0"
ONCALL = "U0ONCAL0"
DEPLOYS, INCIDENTS, GENERAL, PULLS = "C0DEPLOY0", "C0INCID00", "C0GENERA0", "C0PULLRE0"
RFC = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
MONDAY = datetime(2026, 11, 16, 8, tzinfo=UTC)
"""Nine o'clock in Berlin."""
HIRE = {
    "id": "hire-2041",
    "name": "Payments Engineer",
    "role": "engineer",
    "team": "Payments",
    "start": "2026-12-01",
}
SUBJECT = SubjectRun(
    run="5d3c0b1f2e4a69788796a5b4",
    workflow="answer-here",
    owner="#dev-experience",
    channel="#dev-experience",
    link="",
    hops=0,
)
"""A run that people give feedback on."""
Act = Callable[[Company], Awaitable[object]]


def jira(made: Company) -> JiraSimulator:
    system = made.embedded.simulated.system(JiraSimulator)
    assert system is not None
    return system


def github(made: Company) -> GitHubSimulator:
    system = made.embedded.simulated.system(GitHubSimulator)
    assert system is not None
    return system


def notion(made: Company) -> NotionSimulator:
    system = made.embedded.simulated.system(NotionSimulator)
    assert system is not None
    return system


def last(made: Company, channel: str, words: str) -> Message:
    """Return the newest message of a channel's timeline with these words."""
    return [message for message in made.slack.workspace.timeline(channel) if words in message.text][-1]


async def ask_about_the_decision(made: Company) -> Message:
    """Mention Gofer in a thread, with a link to another thread."""
    link = made.slack.workspace.permalink(made.slack.workspace.timeline(INCIDENTS)[0])
    deploy = made.slack.workspace.timeline(DEPLOYS)[0]
    return await made.ask(f"@Gofer does what was decided in {link} block this deploy?", "deploys", deploy)


async def ask_directly(made: Company) -> Message:
    """Ask the same question in a direct message."""
    link = made.slack.workspace.permalink(made.slack.workspace.timeline(INCIDENTS)[0])
    text = made.slack.typed(f"Does what was decided in {link} block our deploy?")
    return await made.slack.say(CAPTAIN, made.slack.direct(CAPTAIN).id, text)


async def two_people_react(made: Company) -> Message:
    """Let two people put :jira: on the message about refunds."""
    about = last(made, GENERAL, "refund")
    for person in (SUPPORT, CHECKOUT):
        await made.slack.react(person, about.channel, about.ts, "jira")
        # In this order, because the answer names the first person.
        await made.slack.settled()
    return about


async def ask_in_jira(made: Company) -> None:
    """Ask in a comment on an issue."""
    jira(made).people.comment("712020:support", jira(made).site.issue("PAY-17"), "@gofer may this go out today?")


async def fire_digest(made: Company, nominal: datetime = MONDAY) -> None:
    """Fire the schedule of the digest."""
    await Outsiders(made.embedded).fire("weekly-digest", nominal)


async def fire_report(made: Company, nominal: datetime = MONDAY) -> None:
    """Fire the schedule of the weekly report."""
    await Outsiders(made.embedded).fire("weekly-report", nominal)


async def say_no(made: Company) -> None:
    """Give bad feedback on a run, as the owner of that run would take it from the inbox."""
    event = event_of(FeedbackGiven("bad", CAPTAIN, words="The project is missing.", item="feedback-1"), SUBJECT)
    assert event is not None
    await made.embedded.ingress.start(event, "tell-owner")


async def hire(made: Company, body: Mapping[str, object] = HIRE) -> int:
    """Call the hook as the HR system does; return the status."""
    return await Outsiders(made.embedded).call("new-hire", json.dumps(body).encode())


async def merge(made: Company) -> None:
    """Merge a pull request that was posted in Slack."""
    github(made).people.merge(github(made).issue("acme/shop", 41), "checkout-owner")


async def create_a_channel(made: Company) -> Channel:
    """Create a channel for a project."""
    return await made.slack.create_channel(CAPTAIN, "proj-refunds")


async def invite(made: Company) -> None:
    """Create a channel of another kind, and invite Gofer."""
    channel = await made.slack.create_channel(CAPTAIN, "lunch")
    await made.slack.join(BOT, channel.id, CAPTAIN)


async def open_a_pull_request(made: Company) -> None:
    """Open a pull request with a file that three others have worked on."""
    changes = {"src/checkout/address.py": "def address(form):\n    return dict(form or {}, checked=True)\n"}
    github(made).people.open_pull(
        "acme/shop", "new-colleague", "Say that an address was checked", changes, head="check"
    )


async def set_rfc_ready(made: Company) -> None:
    """Set an RFC to ready for review."""
    notion(made).people.set_status(RFC, "Ready for review", by="Checkout Owner")


ACTS: Mapping[str, tuple[str, Act]] = {
    "a mention": ("answer-here", ask_about_the_decision),
    "a direct message": ("answer-here", ask_directly),
    "two reactions": ("file-ticket", two_people_react),
    "a comment in Jira": ("answer-in-jira", ask_in_jira),
    "a schedule": ("weekly-digest", fire_digest),
    "the week": ("weekly-report", fire_report),
    "bad feedback": ("tell-owner", say_no),
    "a webhook": ("new-hire-checklist", hire),
    "a merge": ("mark-merged", merge),
    "a new channel": ("welcome-channel", create_a_channel),
    "an invitation": ("welcome-channel", invite),
    "a pull request": ("assign-reviewers", open_a_pull_request),
    "a status": ("review-rfc", set_rfc_ready),
}
"""By event: the workflow that it starts, and the act that causes it."""
