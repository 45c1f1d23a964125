"""One run of each kind through the front door of the embedded stack.

`played` plays each kind once into a folder, and then changes every prompt file. `reopened` opens the same state
without a worker, as often as tests need it.
"""

import asyncio
import copy
import shutil
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from gofer.journal.coordination import UNFINISHED
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT, Company, company
from support.app.model_of_each_kind import CONTRACTS, LEDGERS, MODEL, Kind, ModelOfEachKind

PUBLIC: Sequence[Kind] = ("answered", "refused", "waited", "approved", "delegated", "scripted", "compacted", "damaged")
PRIVATE: Sequence[Kind] = ("private", "waiting")
CAPTAIN, LEAD, STRANGER = "U0CAPTN0", "U0SUPPT0", "U0NEWCO0"
"""The captain asks, the lead approves and is in each private channel, and the stranger is in public ones only."""
QUESTIONS: Mapping[Kind, str] = {
    "answered": "may the address form go out today?",
    "refused": "please archive the channel and post the rota",
    "waited": "what was decided while Slack was away?",
    "approved": "tell the readers of notes that lunch is ready",
    "delegated": "which notice periods do these contracts have?",
    "scripted": "count the words of this thread",
    "compacted": "what do all ledgers come to?",
    "damaged": "what was in the frame that broke?",
    "private": "what do the leads have?",
    "waiting": "tell the readers of notes about the back room",
}
TOOLS: Mapping[Kind, str] = dict.fromkeys(("refused", "approved", "waiting"), "slack_post_message")
"""The tools of workflows beside slack_read_thread."""
KEYS: Mapping[Kind, str] = {
    "approved": "approve: {tools: [slack_post_message], by: '@leads', expires: 2 hours}\nwrites: {slack: ['#notes']}\n",
    "waiting": "writes: {slack: ['#notes']}\n",
    "delegated": "subagents: [read-file]\nfiles: {whole_tokens: 500, preview_tokens: 200}\nlimits: {llm_calls: 30}\n",
    "scripted": "coordinator: script\ncoordinator_script: coordinators/count_words.py\n",
    "compacted": "context: {window: 8000}\nlimits: {llm_calls: 30}\n",
}
THEN, LATER = "heron", "magpie"
"""Words of the prompts at the time of the runs, and after them."""
SCRIPT = '''\
"""A script that counts the words of a thread."""

from gofer.coordinator import Run


async def coordinate(run: Run) -> str:
    """Return the number of words."""
    thread = await run.call("slack_read_thread")
    words = sum(len(message["text"].split()) for message in thread["messages"])
    return f"{words} words in this thread."
'''


@dataclass
class Played:
    """The runs of a folder by kind, and what happened outside."""

    folder: Path
    runs: dict[Kind, str] = field(default_factory=dict[Kind, str])
    asked: dict[Kind, Message] = field(default_factory=dict[Kind, Message])
    sent: Mapping[Kind, Sequence[bytes]] = field(default_factory=dict[Kind, Sequence[bytes]])
    """The requests to the models of each run and of its subagents, byte by byte."""


def prompt(kind: Kind) -> str:
    """Return the prompt with which the run of a kind began."""
    return f"You help in #{kind}. The word of the day is {THEN}-{kind}."


async def played(folder: Path) -> Played:
    """Play a run of each kind, one after the other; then damage the run of that kind, and change the prompts."""
    _write_repository(folder / "repository")
    model = ModelOfEachKind()
    made = Played(folder, sent=model.sent)
    async with _company(folder, work=True, model=model) as embedded:
        for kind in QUESTIONS:
            model.begin(kind, await _links(embedded, kind))
            if kind == "waited":
                # The first attempts to read the thread fail, so that the run is parked before the next one.
                embedded.slack.fail_next("conversations.replies", 503, 503, 503)
            made.asked[kind] = await embedded.ask(f"@Gofer {QUESTIONS[kind]}", kind)
            made.runs[kind] = await _rested(embedded, kind, made.asked[kind])
    _damage(folder, made.runs["damaged"])
    _edit_prompts(folder / "repository")
    return made


@asynccontextmanager
async def reopened(made: Played, **environment: str) -> AsyncIterator[Company]:
    """Open the state of the played runs with pages and receivers, and without a worker."""
    async with _company(made.folder, work=False, model=None, **environment) as embedded:
        yield embedded


def _company(folder: Path, *, work: bool, model: ModelOfEachKind | None, **environment: str) -> Any:
    return company(folder, root=folder / "repository", world=_world(), work=work, model=model, **environment)


def _world() -> Mapping[str, object]:
    """Return the demo's company with a channel for each kind, and one for notes."""
    world = cast(dict[str, Any], copy.deepcopy(dict(demo_world())))
    people = ["U0GOFER0", CAPTAIN, LEAD]
    for name in (*QUESTIONS, "notes"):
        channel = {"id": _channel(name), "name": name, "members": [*people, STRANGER]}
        if name in PRIVATE:
            channel |= {"private": True, "members": people}
        world["slack"]["channels"].append(channel)
    return world


def _channel(name: str) -> str:
    """Return the id of the channel with this name."""
    return f"C0{name.upper():0<7}"


def _write_repository(root: Path) -> None:
    agents = root / "agents"
    agents.mkdir(parents=True)
    (root / "coordinators").mkdir()
    (root / "coordinators" / "count_words.py").write_text(SCRIPT)
    shutil.copytree(ROOT / "subagents", root / "subagents")
    (agents / "defaults.yaml").write_text(f"models: {{default: {MODEL}}}\n")
    for kind in QUESTIONS:
        tools = ", ".join(filter(None, ("slack_read_thread", TOOLS.get(kind))))
        when = f"when: [slack.mention: {{channels: {_channel(kind)}}}]"
        file = f'description: d\nowner: "#general"\n{when}\ntools: [{tools}]\n{KEYS.get(kind, "")}'
        (agents / f"{kind}.yaml").write_text(file)
        (agents / f"{kind}.md").write_text(prompt(kind))


def _edit_prompts(root: Path) -> None:
    """Change every prompt file, as a colleague does after the runs."""
    for kind in QUESTIONS:
        (root / "agents" / f"{kind}.md").write_text(f"Another prompt now: {LATER}-{kind}.")


async def _links(embedded: Company, kind: Kind) -> Sequence[str]:
    """Post the texts that the run of a kind is to read, and return the links of their messages."""
    texts: Sequence[str] = ()
    if kind == "delegated":
        texts = [
            f"Contract {name}. {_filler(60)} The notice period is {days} days." for name, days in CONTRACTS.items()
        ]
    if kind == "compacted":
        texts = [f"Ledger {number} comes to {amount} EUR. {_filler(90)}" for number, amount in enumerate(LEDGERS, 1)]
    posted = [await embedded.ask(text, kind) for text in texts]
    return [embedded.slack.workspace.permalink(message) for message in posted]


def _filler(sentences: int) -> str:
    return " ".join(f"Clause {number} is about another thing altogether." for number in range(sentences))


async def _rested(embedded: Company, kind: Kind, asked: Message) -> str:
    """Return the run of a kind, once it ended or waits for a person; an approval is given."""
    if kind == "approved":
        await _approve(embedded, asked)
    async with asyncio.timeout(60):
        while True:
            for head in await embedded.embedded.state.store.heads(100, private=True):
                rests = head.status not in UNFINISHED or (kind == "waiting" and head.status == "parked")
                if head.workflow == kind and rests:
                    return head.run
            await asyncio.sleep(0.01)


async def _approve(embedded: Company, asked: Message) -> None:
    async with asyncio.timeout(60):
        while True:
            for answer in embedded.answers(asked):
                if any(block["type"] == "actions" for block in answer.blocks):
                    await embedded.slack.press(answer, "approve", LEAD)
                    return
            await asyncio.sleep(0.01)


def _damage(folder: Path, run: str) -> None:
    """Change a byte in the middle of a run: in the frame before its last two."""
    with closing(sqlite3.connect(folder / "state" / "gofer.db")) as database, database:
        (last,) = database.execute("SELECT max(n) FROM frames WHERE run = ?", (run,)).fetchone()
        (frame,) = database.execute("SELECT frame FROM frames WHERE run = ? AND n = ?", (run, last - 2)).fetchone()
        changed = bytearray(frame)
        changed[-1] ^= 1
        database.execute("UPDATE frames SET frame = ? WHERE run = ? AND n = ?", (bytes(changed), run, last - 2))
