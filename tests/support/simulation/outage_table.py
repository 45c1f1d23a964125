"""The table of outages: what people and operators see when a system fails right before any call of a run."""

import asyncio
import itertools
import logging
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from gofer.app.model_endpoints import ModelAccess
from gofer.app.worker import ChildProcesses, Installation, build_worker
from gofer.engine.services import Links
from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.seal import KEY_BYTES
from gofer.journal.unlisted_ends import recent
from gofer.models.language_model import Answer
from gofer.projections.waits import ATTEMPTS
from gofer.runtime.receive import Ingress
from gofer.runtime.run_reports import Ended, Observers
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.values.events import Actor, Event
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.models.served import served
from support.processes.jobs_in_this_process import InThisProcess
from support.runtime.worker_parts import FixedCatalog
from support.simulation.vendor_network import ISSUE, PAGE, PULL, REPOSITORY, Network
from support.simulation.virtual_time import VirtualClock, VirtualLoop, play

SECONDS = (5, 60, 2_400)
KEY = InstallationKey(Secret("0" * 64))
LONG = 30 * 3_600.0
"""Virtual seconds after which a run that has not ended never will."""
CHANNEL, CAPTAIN, DIRECT = "C0DEPLOY0", "U0CAPTN0", "D0CAPTN0"
_NAMES = {5: "5 seconds", 60: "60 seconds", 2_400: "40 minutes"}
ANSWER = "Here you are."
"""The answer of the model."""
ENDED = "metric: one run ended as "
"""How the line of the metrics about the end of a run begins."""
NOT_ASKED = "no person waits for an answer"
"""What people see of a run that no person asked for."""


FACTS: Mapping[str, Mapping[str, object]] = {
    "slack.reaction": {"emoji": "ticket"},
    "webhook": {"name": "hire"},
    "schedule": {"workflow": "w"},
    "github.pull_request": {"action": "opened"},
}
"""What events say for the conditions of their triggers, by kind."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source of runs."""

    name: str
    trigger: object
    kind: str
    conversation: str
    actor: str
    place: Mapping[str, str]
    private: bool | None = False
    reply: str = "thread"

    def event(self, ts: str) -> Event:
        """Return the event of a run, about a message of Slack with a ts where it is about one."""
        place = {name: value.format(ts=ts) for name, value in self.place.items()}
        return Event(
            source=self.kind.partition(".")[0],
            kind=self.kind,
            identity=(self.name, ts),
            conversation=self.conversation,
            actor=Actor(self.actor),
            text="please look into this",
            place=place,
            private=self.private,
            facts=FACTS.get(self.kind, {}),
        )


_MESSAGE = {"team": "T0ACME00", "channel": CHANNEL, "ts": "{ts}"}
SOURCES = (
    Source(
        "Slack mention", "slack.mention", "slack.mention", "slack:1", CAPTAIN, {**_MESSAGE, "thread_ts": "{ts}"}, None
    ),
    Source(
        "Slack reaction", {"slack.reaction": {"emoji": "ticket"}}, "slack.reaction", "slack:2", CAPTAIN, _MESSAGE, None
    ),
    Source(
        "Slack direct message",
        "slack.direct",
        "slack.direct",
        "slack:3",
        CAPTAIN,
        {**_MESSAGE, "channel": DIRECT, "thread_ts": "{ts}"},
        True,
    ),
    Source("Jira comment", "jira.commented", "jira.commented", "jira:1", "712020:support", {"issue": ISSUE}),
    Source("Notion page", "notion.page_created", "notion.page_created", "notion:1", "a-person", {"page": PAGE}),
    Source(
        "GitHub pull request",
        "github.pull_request",
        "github.pull_request",
        "github:1",
        "checkout-owner",
        {"repository": REPOSITORY, "number": str(PULL)},
    ),
    Source(
        "webhook",
        {"webhook": {"name": "hire", "auth": "bearer"}},
        "webhook",
        "webhook:1",
        "hire",
        {"hook": "hire"},
        reply="none",
    ),
    Source("schedule", {"schedule": {"every": "7 days"}}, "schedule", "schedule:1", "clock", {}, reply="none"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One outage, and what people and operators saw."""

    source: str
    call: str
    tool: str
    system: str
    seconds: int
    person: Sequence[str]
    operator: Sequence[str]


class Colleague:
    """A model that reads an issue, comments on it and answers."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        done = body.count(b'"role":"tool"')
        if done == 0:
            return says("", ("jira_get_issue", {"issue": ISSUE}))
        if done == 1:
            return says("", ("jira_add_comment", {"issue": ISSUE, "text": "The fix is on staging."}))
        return says(ANSWER)


class StatusRecorder(MemoryStore):
    """A store that records the states shown in the run list, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    async def put_head(self, head: Head) -> None:
        await super().put_head(head)
        line = f"{head.status}: {head.reason}" if head.reason else head.status
        tells = head.reason or head.status not in UNFINISHED
        if tells and not head.private and line not in self.shown:
            self.shown.append(line)


class WarningLog(logging.Handler):
    """The warnings of the log, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if line not in self.lines:
            self.lines.append(line)


@contextmanager
def log_lines() -> Iterator[WarningLog]:
    """Record the warnings of Gofer during the block."""
    handler, logger = WarningLog(), logging.getLogger("gofer")
    logger.addHandler(handler)
    before = logger.propagate
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.propagate = before
        logger.removeHandler(handler)


class Run:
    """One run of a source in virtual time, with an outage that begins right before the first attempt of one call."""

    def __init__(self, source: Source, call: str = "", seconds: float = 0.0) -> None:
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop)
        self.network = Network(self.clock)
        self.store = StatusRecorder()
        self.blobs = MemoryBlobs()
        self.queue = MemoryQueue(self.clock)
        self.source, self.call, self.seconds = source, call, seconds
        self.calls: dict[str, str] = {}
        """The tools of calls of systems outside, by call, in order."""
        chance, ids = random.Random(7), itertools.count(1)
        self.outside = Outside(
            self.network, self.clock, lambda: f"id{next(ids):06}", chance, lambda: chance.randbytes(KEY_BYTES)
        )

    def play(self) -> Row:
        """Play the run to its end and return what was seen."""
        with log_lines() as log:
            counts = play(self.loop, self._play())
        tool = self.calls.get(self.call, "")
        asked = self.source.reply != "none"
        person = self.network.read if asked else [*self.network.read, NOT_ASKED]
        operator = [*self.store.shown, *(f"log: {line}" for line in log.lines), *(f"count: {one}" for one in counts)]
        system = self.tools[tool].target.system if tool else ""
        return Row(self.source.name, self.call, tool, system, int(self.seconds), person, operator)

    async def _play(self) -> Sequence[str]:
        stores = Stores(self.store, self.blobs, self.queue)
        worker = build_worker(
            self.network.settings(),
            Installation(stores, KEY, Links("http://localhost"), self.outside, alone=True),
            FixedCatalog(self._catalog()),
            ModelAccess(Colleague()),
            ChildProcesses(InThisProcess()),  # type: ignore[arg-type]
            observers=Observers(self._note_end),
        )
        self.tools = {name: self._watched(tool) for name, tool in worker.services.tools.items()}
        services = replace(worker.services, tools=self.tools)
        worker = replace(worker, services=services)
        ts = await self._message()
        ingress = Ingress({}, read_routes({}), stores, KEY, self.outside)
        run = await ingress.start(self.source.event(ts), "w")
        serving = asyncio.create_task(worker.serve())
        while await self._under_way(run) and self.loop.time() < LONG:
            await asyncio.sleep(10)
        serving.cancel()
        return [ends.sentence() for ends in await recent(self.store, int(self.clock.now() * 1000))]

    def _note_end(self, ended: Ended) -> None:
        """Note what the metrics of a worker say of an end, private runs included."""
        self.store.shown.append(f"{ENDED}{ended.status}")

    async def _under_way(self, run: str) -> bool:
        head = await self.store.head(run)
        return head is None or head.status in UNFINISHED

    async def _message(self) -> str:
        """Post the message of a Slack run as a colleague; return its ts."""
        channel = self.source.place.get("channel")
        if channel is None:
            return ""
        self.network.slack.direct(CAPTAIN)
        return (await self.network.slack.say(CAPTAIN, channel, "please look into this")).ts

    def _catalog(self) -> Catalog:
        workflow = Workflow.model_validate(
            {
                "description": "Look into things.",
                "owner": "#helpers",
                "when": [self.source.trigger],
                "tools": ["jira_get_issue", "jira_add_comment"],
                "writes": {"jira": ["PAY"]},
                "private_channels": "allow",
                "reply": self.source.reply,
            }
        )
        return Catalog({"w": Loaded("w", workflow, "Help.", "agents/w.md", served("m"))}, Defaults())

    def _watched(self, tool: Tool[Any]) -> Tool[Any]:
        async def act(call: Call, arguments: Arguments) -> ToolResult:
            name = call.key.partition("/")[2]
            if tool.target.system and name not in self.calls:
                self.calls[name] = tool.name
                if name == self.call:
                    now = self.clock.monotonic()
                    self.network.away[tool.target.system] = now, now + self.seconds
            return await tool.act(call, arguments)

        return replace(tool, act=act)


def calls_of(source: Source) -> Sequence[str]:
    """Return the calls to outside systems that an undisturbed run makes."""
    run = Run(source)
    run.play()
    return list(run.calls)


def rows_of(source: Source) -> Iterator[Row]:
    """Play each outage before each call of a source."""
    for call in calls_of(source):
        for seconds in SECONDS:
            yield Run(source, call, seconds).play()


def whole_table() -> str:
    """Return what people and operators saw of every outage, as Markdown."""
    head = "| run of | before | away | what people saw | what the operator saw |\n|---|---|---|---|---|"
    return "\n".join([head, *(_line(row) for source in SOURCES for row in rows_of(source))])


def short_table(source: Source) -> str:
    """Return the last text that people read after each outage of one source, as Markdown."""
    head = f"| outage begins before | {' | '.join(_NAMES[seconds] for seconds in SECONDS)} |"
    lines = [head, "|---|" + "---|" * len(SECONDS)]
    for _, group in itertools.groupby(rows_of(source), key=lambda row: row.call):
        rows = list(group)
        call = f"`{rows[0].tool}`" + (" (the answer)" if rows[0].call.startswith("answer/") else "")
        lines.append(f"| {call} | {' | '.join(_end(row) for row in rows)} |")
    return "\n".join(lines)


def _end(row: Row) -> str:
    """Return the status with which a run ended, and the last text that people read, unless it is the plain answer."""
    (status,) = [line.removeprefix(ENDED) for line in row.operator if line.startswith(ENDED)]
    last = _plain(row.person[-1])
    return f"`{status}`" if last == ANSWER else f"`{status}`: {last}".replace("|", "\\|")


def _line(row: Row) -> str:
    before = f"`{row.call}` {row.tool}"
    away = f"{row.system}, {_NAMES[row.seconds]}"
    return f"| {row.source} | {before} | {away} | {_cell(map(_plain, row.person))} | {_cell(_waits(row.operator))} |"


def _cell(lines: Iterable[str]) -> str:
    return "<br>".join(line.replace("|", "\\|") for line in lines)


def _plain(text: str) -> str:
    """Return a text as people read it, without its links and its search marker."""
    said = re.split(r"\n*(?:<sub>|<!--|w prompt)", text)[0]
    return " ".join(said.split())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _waits(lines: Sequence[str]) -> Sequence[str]:
    """Return what an operator saw, with waits for the same reason in one line."""
    waits = Counter(line.partition(ATTEMPTS)[0] for line in lines if ATTEMPTS in line)
    found: list[str] = []
    for line in lines:
        why, _, times = line.partition(ATTEMPTS)
        if not times:
            found.append(line)
        elif why in waits:
            found.append(f"{why} ({_times(waits.pop(why))})")
    return found
