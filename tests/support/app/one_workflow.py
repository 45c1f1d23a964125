"""Gofer with one workflow for a journey: the demo's company with a guest and an outsider, and a held model."""

import asyncio
import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gofer.journal.coordination import Head
from gofer.models.language_model import Answer
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company
from support.engine.memory_run import says

DEPLOYS, GENERAL, LEADS = "C0DEPLOY0", "C0GENERA0", "C0LEADS00"
CAPTAIN, ONCALL, GUEST, STRANGER = "U0CAPTN0", "U0ONCAL0", "U0GUEST00", "U0STRNG00"


@dataclass
class Echo:
    """A model that calls the given tools and then always gives the same answer; it can be held."""

    asks: Sequence[tuple[str, dict[str, object]]] = ()
    go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    bodies: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.go.set()

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        self.asked.set()
        await self.go.wait()
        fresh = b'"role":"tool"' not in body
        return says("", *self.asks) if self.asks and fresh else says("Here you are.")


def world() -> Mapping[str, Any]:
    """Return the demo's company with a guest and an external person in two of its channels, and another bot."""
    made: dict[str, Any] = copy.deepcopy(dict(demo_world()))
    slack = made["slack"]
    slack["users"] += [
        {"id": GUEST, "name": "Guest", "restricted": True},
        {"id": STRANGER, "name": "Stranger", "external": True},
        {"id": "U0OTHER00", "name": "builds", "bot": True},
    ]
    for channel in slack["channels"]:
        channel["members"] += [GUEST, STRANGER, "U0OTHER00"]
    return made


@asynccontextmanager
async def gofer(
    folder: Path,
    workflow: str,
    model: Echo | None = None,
    within: Mapping[str, object] | None = None,
    *,
    defaults: str = "",
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Company]:
    """Run Gofer with one workflow, given as the lines of its file after description and owner."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    (agents / "w.yaml").write_text(f'description: d\nowner: "#helpers"\n{workflow}\n')
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text(f"models: {{default: gpt-5.4-mini}}\n{defaults}")
    root, model = folder / "repository", model or Echo()
    async with company(folder, root=root, world=within or world(), model=model, **(environment or {})) as made:
        yield made


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


async def quiet(made: Company) -> Sequence[Head]:
    """Return all runs, once all deliveries were made and their owners took what they brought."""
    await made.slack.settled()
    await asyncio.sleep(0.1)
    store = made.embedded.state.store
    async with asyncio.timeout(60):
        while any([await store.items(head.run) for head in await store.heads(100, private=True)]):
            await asyncio.sleep(0.01)
    return await store.heads(100, private=True)
