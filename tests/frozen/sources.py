"""The requests of the runs that each source starts, with the shipped workflows in the demo's world."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from frozen.lines import line
from frozen.recording import described
from frozen.stage import ThreadlessLoop
from gofer.models.language_model import Answer
from gofer.models.price_library import look_up
from gofer.models.scripted import ScriptedModel
from gofer.sources.workflow_files import load_catalog
from gofer.values.outside import HttpRequest
from gofer_simulators.demo import demo_scripts
from support.app.shipped_workflows import CAPTAIN, CHECKOUT, DEPLOYS, GENERAL, HIRE, INCIDENTS, MONDAY, RFC
from support.app.virtual_company import Company, Delivered, Sent, virtual_company
from support.simulation.virtual_time import VirtualClock, play

ROOT = Path(__file__).parents[2]


class KeepingModel:
    """The scripted model of the demo, which records its requests among those to vendors."""

    def __init__(self, sent: Sent) -> None:
        self._sent = sent
        self._scripted = ScriptedModel(demo_scripts())

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Answer a request."""
        self._sent.append(body)
        return await self._scripted.ask(body, timeout)


async def _mention(made: Company) -> None:
    slack = made.vendors.slack
    link = slack.workspace.permalink(slack.workspace.timeline(INCIDENTS)[0])
    deploy = slack.workspace.timeline(DEPLOYS)[0]
    text = slack.typed(f"@Gofer does what was decided in {link} block this deploy?")
    await slack.say(CAPTAIN, DEPLOYS, text, thread_ts=deploy.ts)


async def _reaction(made: Company) -> None:
    slack = made.vendors.slack
    about = [message for message in slack.workspace.timeline(GENERAL) if "refund" in message.text][-1]
    await slack.react(CHECKOUT, about.channel, about.ts, "jira")


async def _comment(made: Company) -> None:
    jira = made.vendors.jira
    jira.people.comment("712020:support", jira.site.issue("PAY-17"), "@gofer may this go out today?")


async def _status(made: Company) -> None:
    made.vendors.notion.people.set_status(RFC, "Ready for review", by="Checkout Owner")


async def _pull_request(made: Company) -> None:
    changes = {"src/checkout/address.py": "def address(form):\n    return dict(form or {}, checked=True)\n"}
    people = made.vendors.github.people
    people.open_pull("acme/shop", "new-colleague", "Say that an address was checked", changes, head="check")


async def _call(made: Company) -> None:
    await made.deliver("webhook", json.dumps(HIRE).encode(), hook="new-hire")


async def _time(made: Company) -> None:
    body = {"workflow": "weekly-digest", "scheduled": MONDAY.isoformat()}
    await made.deliver("schedule", json.dumps(body).encode())


ACTS: Mapping[str, Callable[[Company], Awaitable[None]]] = {
    "slack-mention": _mention,
    "slack-reaction": _reaction,
    "jira-comment": _comment,
    "notion-status": _status,
    "github-pull-request": _pull_request,
    "webhook": _call,
    "schedule": _time,
}
"""The events outside, by their name in the corpus."""


def requests() -> Iterator[tuple[str, str]]:
    """Yield the deliveries of each source, and the requests of their runs to vendors and models."""
    for name, act in ACTS.items():
        loop = ThreadlessLoop()
        yield f"requests/from-{name}.jsonl", play(loop, _played(VirtualClock(loop), act))


async def _played(clock: VirtualClock, act: Callable[[Company], Awaitable[None]]) -> str:
    async with AsyncExitStack() as stack:
        catalog = load_catalog(ROOT / "agents", look_up=look_up)
        made = await virtual_company(clock, stack, catalog, KeepingModel)
        serving = asyncio.create_task(made.worker.serve())
        await act(made)
        await made.ended()
        serving.cancel()
        return "".join(f"{_line_of(sent)}\n" for sent in made.vendors.sent)


def _line_of(sent: HttpRequest | Delivered | bytes) -> str:
    """Return a delivery, a request to a vendor or a question to a model as one line."""
    match sent:
        case HttpRequest():
            return line(described(sent))
        case Delivered(source=source, body=body):
            return line({"delivered": source, "body": body.decode()})
        case bytes():
            return sent.decode()
