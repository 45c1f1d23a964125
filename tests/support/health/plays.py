"""Healthy runs in virtual time: shipped workflows, runs of the clerk, and schedules with crashes and outages.

Each play gets a number that decides everything in it, and returns the journals of its runs and of their subagents.
"""

import asyncio
import itertools
import random
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from frozen.sources import ACTS
from frozen.stage import ThreadlessLoop
from gofer.journal.child_runs import subagent_runs
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.models.language_model import Model
from gofer.models.price_library import look_up
from gofer.models.scripted import ScriptedModel
from gofer.sources.workflow_files import load_catalog
from gofer.workflows.load import Catalog
from gofer_simulators.demo import demo_scripts
from gofer_simulators.faults import Fault
from support.app.company import ROOT
from support.app.shipped_workflows import CAPTAIN, DEPLOYS, INCIDENTS, RFC
from support.app.virtual_company import Company, virtual_company
from support.health.clerk import Clerk
from support.health.tasks import ON_FILES, TASKS
from support.simulation.schedule import Schedule
from support.simulation.virtual_time import VirtualClock, play

LEAD = "U0SUPPT0"
Journal = Sequence[Recorded]


@dataclass(frozen=True)
class PlayedRun:
    """A run of a play, or one of its subagent runs."""

    kind: str
    number: int
    run: str
    journal: Journal


def shipped(number: int) -> Sequence[PlayedRun]:
    """Play an event of the demo's company, for which a shipped workflow starts."""
    kinds = sorted(ACTS)
    kind = kinds[number % len(kinds)]
    catalog = _shipped_catalog()

    async def act(made: Company) -> None:
        if number // len(kinds) % 2:
            _trouble(made, random.Random(number))
        await ACTS[kind](made)

    return _played(f"shipped: {kind}", number, catalog, ScriptedModel(demo_scripts()), act)


@cache
def _shipped_catalog() -> Catalog:
    return load_catalog(ROOT / "agents", look_up=look_up)


def clerks(number: int) -> Sequence[PlayedRun]:
    """Play a run of the clerk on one to three tasks, with or without trouble, approvals and a full window."""
    chance = random.Random(number)
    names = sorted(TASKS)
    tasks = [names[number % len(names)]]
    tasks += chance.sample([name for name in names if name not in tasks], number // len(names) % 3)
    clerk = Clerk(chance, tasks, at_once=chance.random() < 0.3, absent=int(chance.random() < 0.1))

    async def act(made: Company) -> None:
        if chance.random() < 0.3:
            _trouble(made, chance)
        await _ask(made, tasks, chance)

    return _played(f"clerk: {tasks[0]}", number, _clerk_catalog(number % 5), clerk, act)


Variant = Literal[0, 1, 2, 3, 4]
_KEYS: Mapping[int, str] = {
    0: "",
    1: "context: {window: 9000}\nlimits: {llm_calls: 30, tool_calls: 40}\n",
    2: "approve: {tools: [jira_create_issue], by: '@leads', expires: 2 hours}\n",
    3: "search_above: 60\ncontext: {window: 12000, compact_at: 60}\nlimits: {llm_calls: 30}\n",
    4: "plan: optional\n",
}


@cache
def _clerk_catalog(variant: int) -> Catalog:
    """Return the workflow of the clerk with the keys of a variant."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("skills", "subagents", "coordinators"):
            (root / name).symlink_to(ROOT / name)
        agents = root / "agents"
        agents.mkdir()
        (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
        head = 'description: Does what is asked.\nowner: "#general"\nwhen: [slack.mention]\nsubagents: [read-file]\n'
        writes = f'writes: {{jira: [PAY], slack: ["#general", "#incidents"], notion: [{RFC}]}}\n'
        tools = f"tools: [{', '.join(sorted({tool for task in TASKS.values() for tool in task.tools}))}]\n"
        (agents / "clerk.yaml").write_text(f"{head}{tools}{writes}{_KEYS[variant]}")
        (agents / "clerk.md").write_text("Do what you are asked, and say how you know.")
        return load_catalog(agents, look_up=look_up)


async def _ask(made: Company, tasks: Sequence[str], chance: random.Random) -> None:
    slack = made.vendors.slack
    link = slack.workspace.permalink(slack.workspace.timeline(INCIDENTS)[0])
    words = ", and ".join(TASKS[task].asks.format(thread=link) for task in tasks)
    text = slack.typed(f"@Gofer {words}")
    if ON_FILES.isdisjoint(tasks):
        await slack.say(CAPTAIN, DEPLOYS, text)
        return
    await slack.upload(CAPTAIN, DEPLOYS, "ledger.txt", _ledger(chance).encode(), text)


def play_asked(model: Model, tasks: Sequence[str], variant: int) -> Sequence[PlayedRun]:
    """Play one run in which any model gets the request of some tasks, with the workflow of a variant."""

    async def act(made: Company) -> None:
        await _ask(made, tasks, random.Random(1))

    return _played("asked", 1, _clerk_catalog(variant), model, act)


def _ledger(chance: random.Random) -> str:
    lines: list[str] = []
    for page in range(1, 41):
        lines.append(f"Page {page} comes to {chance.randrange(10_000)} EUR, signed by Clerk-{chance.randrange(99)}.")
        lines += [f"Item {chance.randrange(10**9)} was delivered, checked and paid in full." for _ in range(9)]
    return "\n".join(lines)


def _trouble(made: Company, chance: random.Random) -> None:
    """Plan a short outage or a rate limit of one vendor, from which it recovers."""
    vendors = made.vendors
    away = Fault("status", status=503)
    limited = Fault("status", status=429, headers={"Retry-After": "3"})
    match chance.randrange(6):
        case 0:
            vendors.slack.fail_next("conversations.replies", 503, 503, 503)
        case 1:
            vendors.slack.fail_next("conversations.replies", 429)
        case 2:
            vendors.slack.fail_next("chat.update", 500)
        case 3:
            vendors.jira.faults.add("*", "*", chance.choice([away, limited]), times=1)
        case 4:
            vendors.notion.faults.add("*", "*", chance.choice([away, limited]), times=1)
        case _:
            vendors.github.faults.add("GET", "*", chance.choice([away, limited]), times=1)


def _played(
    kind: str, number: int, catalog: Catalog, model: Model, act: Callable[[Company], Awaitable[None]]
) -> Sequence[PlayedRun]:
    loop = ThreadlessLoop()

    async def all_of_it() -> Sequence[PlayedRun]:
        async with AsyncExitStack() as stack:
            made = await virtual_company(VirtualClock(loop), stack, catalog, lambda _: model, seed=number)
            serving = asyncio.create_task(made.worker.serve())
            approving = asyncio.create_task(_approve(made, random.Random(number)))
            await act(made)
            await made.ended()
            serving.cancel()
            approving.cancel()
            stores = made.worker.services.stores
            heads = await stores.journals.heads(100, private=True)
            roots = [head.run for head in heads]
            found = await _journals(roots, stores.journals, stores.blobs)
            return [PlayedRun(kind, number, run, journal) for run, journal in found]

    return play(loop, all_of_it())


async def _approve(made: Company, chance: random.Random) -> None:
    """Answer each question of Gofer with a press, after a while; one in four is denied."""
    answered: set[str] = set()
    while True:
        await asyncio.sleep(chance.uniform(5, 60))
        for message in made.vendors.slack.workspace.all_messages():
            if message.ts not in answered and any(block["type"] == "actions" for block in message.blocks):
                answered.add(message.ts)
                await made.vendors.slack.press(message, chance.choice(["approve"] * 3 + ["deny"]), LEAD)


def schedules(number: int) -> Sequence[PlayedRun]:
    """Play three mentions among crashes, lost responses and outages; every run recovers or is cancelled."""
    schedule = Schedule(number)
    report = schedule.run()
    assert report.violations == []
    roots = sorted({run for found in schedule.accepted.values() for run in found})
    found = asyncio.run(_journals(roots, schedule.copy, schedule.blobs))
    kind = "schedule: script" if schedule.catalog.scripts else "schedule: model"
    return [PlayedRun(kind, number, run, journal) for run, journal in found]


async def _journals(roots: Sequence[str], store: Store, blobs: object) -> Sequence[tuple[str, Journal]]:
    found: list[tuple[str, Journal]] = []
    left = list(roots)
    for run in left:
        journal = await read_journal(run, store, blobs)  # pyright: ignore[reportArgumentType]
        found.append((run, journal))
        left += subagent_runs(journal)
    return found


def healthy() -> Iterator[Sequence[PlayedRun]]:
    """Yield the runs of one play after the other: of ten, seven of the clerk, one shipped, and two schedules."""
    for number in itertools.count():
        match number % 10:
            case 0:
                yield shipped(number // 10)
            case 4 | 8:
                yield schedules(number // 4)
            case _:
                yield clerks(number)
