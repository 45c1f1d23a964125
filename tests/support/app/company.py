"""A company for journeys: the whole of Gofer in this process, a simulated Slack, and access to the results."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from gofer.app.embedded.connection_limits import BOUNDS, Bounds
from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.embedded.working import working
from gofer.app.settings import Settings, read_settings
from gofer.engine.effects import Patience
from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.entries import Entry, Recorded
from gofer.journal.log import read_journal
from gofer.models.language_model import Model
from gofer.values.model_script import Script
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.http import loopback
from support.tools.declared_tools import hurried


async def settle_soon(seconds: float) -> None:
    """Wait at most a tenth of a second: an answer of the simulators that got lost was sent at once."""
    await asyncio.sleep(min(seconds, 0.1))


PATIENCE = Patience(skew=0, backoff=0.01, pause=0.1, sleep=settle_soon)
"""The simulated systems may answer late, as on a busy machine, and a lost answer needs no long wait."""
ROOT = Path(__file__).parents[3]


def settings(folder: Path, **environment: str) -> Settings:
    """Return settings without the environment of this machine."""
    return read_settings({"GOFER_DATA": str(folder / "state"), **environment})


@dataclass
class Company:
    """A running Gofer and its world."""

    embedded: EmbeddedStack
    http: httpx2.AsyncClient

    @property
    def slack(self) -> SlackSimulator:
        system = self.embedded.simulated.system(SlackSimulator)
        assert system is not None
        return system

    @property
    def slack_url(self) -> str:
        """Return the address of the simulated Slack's pages."""
        return self.embedded.simulated.urls["slack"]

    async def ask(self, text: str, channel: str = "deploys", thread: Message | None = None) -> Message:
        """Write to a channel as a colleague; `@Gofer` is a mention."""
        where = self.slack.workspace.channel_named(channel)
        assert where is not None
        thread_ts = thread.ts if thread else None
        return await self.slack.say("U0CAPTN0", where.id, self.slack.typed(text), thread_ts=thread_ts)

    def thread(self, message: Message) -> Sequence[Message]:
        parent = self.slack.workspace.parent(message)
        return [parent, *self.slack.workspace.replies(parent)]

    def answers(self, message: Message) -> Sequence[Message]:
        """Return what Gofer wrote in the thread after the message."""
        bot = self.slack.workspace.bot.user
        return [m for m in self.thread(message) if m.user == bot and m.ts > message.ts]

    async def ended(self, runs: int = 1, seconds: float = 60) -> Sequence[Head]:
        """Return all runs, oldest first, once there are that many and all of them ended."""
        await self.slack.settled()
        async with asyncio.timeout(seconds):
            while True:
                heads = await self.embedded.state.store.heads(1000, private=True)
                if len(heads) >= runs and all(head.status not in UNFINISHED for head in heads):
                    await asyncio.sleep(0.05)
                    return sorted(
                        await self.embedded.state.store.heads(1000, private=True), key=lambda head: head.accepted_at
                    )
                await asyncio.sleep(0.01)

    async def journal(self, run: str) -> Sequence[Recorded]:
        return await read_journal(run, self.embedded.state.store, self.embedded.state.blobs)

    async def entries(self, run: str) -> Sequence[Entry]:
        return [recorded.entry for recorded in await self.journal(run)]

    async def get(self, path: str) -> httpx2.Response:
        return await self.http.get(self.embedded.url + path)


@asynccontextmanager
async def company(
    folder: Path,
    *,
    work: bool = True,
    world: Mapping[str, object] | None = None,
    bounds: Bounds = BOUNDS,
    root: Path = ROOT,
    model: Model | None = None,
    scripts: Sequence[Script] | None = None,
    **environment: str,
) -> AsyncIterator[Company]:
    """Run Gofer over the state in a folder; without `work` it accepts deliveries and continues no run."""
    chosen, world = settings(folder, **environment), world or demo_world()
    async with (
        loopback.client() as http,
        open_embedded(chosen, root, world=world, scripts=scripts, bounds=bounds) as embedded,
    ):
        if not work:
            yield Company(embedded, http)
            return
        tools = {name: hurried(tool) for name, tool in embedded.worker.services.tools.items()}
        before = embedded.worker.services
        services = replace(before, patience=PATIENCE, tools=tools, model=model or before.model)
        async with working(replace(embedded.worker, services=services)):
            yield Company(embedded, http)


async def ask_about_the_decision(made: Company) -> Message:
    """Ask the demo's question: a mention in the thread of a deploy, with a link to another thread."""
    deploy, incident = made.slack.workspace.timeline("C0DEPLOY0")[0], made.slack.workspace.timeline("C0INCID00")[0]
    link = made.slack.workspace.permalink(incident)
    return await made.ask(f"@Gofer does what was decided in {link} block this deploy?", "deploys", deploy)


def links(message: Message) -> dict[str, str]:
    """Return the links under an answer by label."""
    context = next(block for block in message.blocks if block["type"] == "context")
    text = context["elements"][0]["text"]
    return {label: url for url, label in re.findall(r"<([^|>]+)\|([^>]+)>", text)}
