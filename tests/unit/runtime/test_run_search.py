"""The search for a run: which runs it finds, in which order, and how much it reads for that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import Entry, LlmResponse, RunAccepted, RunConcluded, RunFinished, ToolResult
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.journal.log import Pen, claim, open_journal
from gofer.journal.purposes import ACTOR, CONTEXT
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.run_search import Found, Wanted, search
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.events import Actor
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import TOKENS, SetClock, make_outside, mention

pytestmark = pytest.mark.anyio

PEOPLE = {"U0ADA000": ("Ada Lovelace", "ada"), "U0GRACE0": ("Grace Hopper", "grace")}
CHANNELS = {"C0DEPLOY0": "deploys", "C0PAY0000": "payments"}


@dataclass
class Told:
    """A run to store."""

    run: str
    at: int
    person: str = "U0ADA000"
    channel: str = "C0DEPLOY0"
    question: str = "hello"
    answer: str = "Hello."
    private: bool = False
    named: bool = True
    """Whether the run looked up its person and its channel."""


class CountingStore(MemoryStore):
    """A store that notes which journals are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def frames(self, run: str) -> Sequence[bytes]:
        self.read.append(run)
        return await super().frames(run)

    def damage(self, run: str) -> None:
        """Cut the last frame of a run short."""
        self._frames[run][-1] = self._frames[run][-1][:-1]


class Office:
    """Stored runs and a search over them."""

    def __init__(self) -> None:
        self.clock = SetClock()
        self.store = CountingStore()
        self.blobs = MemoryBlobs()
        self.outside = make_outside(self.clock)

    async def add(self, told: Told, facts: HeadFacts | None = None, **changes: object) -> None:
        """Store a run that ended, with the facts that a worker would write."""
        event = replace(mention(told.question, channel=told.channel), actor=Actor(told.person), private=told.private)
        pen = Pen("worker", self.outside)
        await claim(told.run, RunAccepted(event, "answer-here"), pen, self.store, self.blobs)
        journal, _ = await open_journal(told.run, self.store, self.blobs, pen)
        for entry in self._entries(told):
            journal.add(entry)
        await journal.commit()
        known = replace(
            facts or HeadFacts(),
            person=TOKENS.person("slack", told.person),
            channel=TOKENS.channel("slack", told.channel),
        )
        text = encode(known)
        if told.private:
            text = ""
        head = Head(told.run, "answer-here", "c", told.at, "done", private=told.private, facts=text)
        await self.store.create_head(replace(head, **changes))

    def _entries(self, told: Told) -> list[Entry]:
        name, handle = PEOPLE[told.person]
        found: dict[str, object] = {"kind": "member", "name": name, "handle": handle, "team": "T0ACME00"}
        looked_up = [
            ToolResult(ACTOR, "ok", "", details=found),
            ToolResult(CONTEXT, "ok", "the thread", details={"channel": CHANNELS[told.channel], "private": False}),
        ]
        if not told.named:
            looked_up = []
        asked = ToolAsk("1", "jira_create_issue", '{"summary": "refund 4711"}')
        return [
            *looked_up,
            LlmResponse("", (asked,), "tool_calls", "m", Usage(1, 1, 0), 0.0, 1),
            RunConcluded("done", "", told.answer),
            RunFinished("done"),
        ]

    async def search(self, limit: int = 20, most_read: int = 50, **wanted: object) -> Found:
        stores = Stores(self.store, self.blobs, MemoryQueue(self.clock))
        readings = RunReadings(RunReader(stores, self.clock, {}), OPERATOR, most_read)
        return await search(Wanted(**wanted), readings, limit)

    async def found(self, **wanted: object) -> list[str]:
        return [run.head.run for run in (await self.search(**wanted)).runs]


async def test_runs_around_a_time_are_found_nearest_first() -> None:
    office = Office()
    for run, at in (("early", 10), ("near", 48), ("nearest", 51), ("late", 99)):
        await office.add(Told(run, at))
    assert await office.found(around=50, since=20, until=80) == ["nearest", "near"]
    assert await office.found() == ["late", "nearest", "near", "early"]


@pytest.mark.parametrize("written", ["#payments", "payments", "C0PAY0000", "<#C0PAY0000|payments>", "Payments"])
async def test_channel_is_found_by_id_and_name(written: str) -> None:
    office = Office()
    await office.add(Told("other", 1))
    await office.add(Told("paid", 2, channel="C0PAY0000"))
    assert await office.found(channel=written) == ["paid"]


@pytest.mark.parametrize("written", ["@ada", "Ada Lovelace", "u0ada000", "<@U0ADA000>"])
async def test_person_is_found_by_id_name_and_handle(written: str) -> None:
    office = Office()
    await office.add(Told("grace", 1, person="U0GRACE0"))
    await office.add(Told("ada", 2))
    assert await office.found(person=written) == ["ada"]
    assert await office.found(person="@") == []


async def test_one_run_is_read_for_each_person_and_not_each_run() -> None:
    office = Office()
    for n in range(20):
        await office.add(Told(f"ada{n:02d}", n))
    await office.add(Told("grace", 50, person="U0GRACE0"))
    office.store.read.clear()
    assert await office.found(person="@nemo") == []
    assert office.store.read == ["grace", "ada19"]


async def test_name_that_the_newest_run_did_not_learn_comes_from_an_earlier_one() -> None:
    office = Office()
    await office.add(Told("named", 1))
    await office.add(Told("unnamed", 2, named=False))
    assert await office.found(person="@ada") == ["named"]


@pytest.mark.parametrize(
    ("wanted", "facts"),
    [
        ({"tool": "jira_create_issue"}, HeadFacts(tools={"jira_create_issue": ToolCount(1, 1)})),
        ({"skill": "find-owners"}, HeadFacts(skills=("find-owners",))),
        ({"check": "no-tool-loops"}, HeadFacts(checks=("no-tool-loops",))),
    ],
)
async def test_runs_are_found_by_their_facts(wanted: dict[str, str], facts: HeadFacts) -> None:
    office = Office()
    await office.add(Told("plain", 2))
    await office.add(Told("wanted", 1), facts)
    assert await office.found(**wanted) == ["wanted"]
    assert await office.found(**dict.fromkeys(wanted, "other")) == []


async def test_runs_are_found_by_workflow_and_status() -> None:
    office = Office()
    await office.add(Told("ticket", 1), workflow="file-ticket")
    await office.add(Told("failed", 2), status="failed")
    assert await office.found(workflow="file-ticket") == ["ticket"]
    assert await office.found(status="failed") == ["failed"]


async def test_text_is_found_in_question_answer_and_arguments() -> None:
    office = Office()
    await office.add(Told("asked", 1, question="where is my Invoice"))
    await office.add(Told("answered", 2, answer="The invoice is paid."))
    assert await office.found(text="invoice") == ["answered", "asked"]
    assert await office.found(text="4711 INVOICE") == ["answered", "asked"]
    assert await office.found(text="where paid") == []


async def test_text_search_is_bounded_and_counts_unchecked_runs() -> None:
    office = Office()
    for n in range(5):
        await office.add(Told(f"r{n}", n))
    found = await office.search(text="unwritten", most_read=2)
    assert (found.candidates, found.searched, found.unread, list(found.runs)) == (5, 5, 3, [])


@pytest.mark.parametrize(
    "wanted", [{}, {"text": "hello"}, {"person": "@ada"}, {"channel": "#deploys"}, {"status": "done"}]
)
async def test_private_and_hidden_runs_are_never_found(wanted: dict[str, str]) -> None:
    office = Office()
    await office.add(Told("private", 1, private=True))
    await office.add(Told("hidden", 2))
    await office.store.hide("hidden")
    # A stale head says that a private run is public.
    await office.add(Told("stale", 3, private=True))
    await office.store.put_head(Head("stale", "answer-here", "c", 3, "done", private=False))
    found = await office.search(**wanted)
    assert (list(found.runs), found.candidates) == ([], 1)


async def test_run_with_deleted_contents_is_found_by_its_counts_and_names_no_person() -> None:
    office = Office()
    await office.add(Told("gone", 1), HeadFacts(tools={"read": ToolCount(1)}))
    await office.store.retain("gone", "due", "deleting")
    await office.store.destroy_key("gone")
    found = await office.search(tool="read")
    assert [(run.head.run, run.origin) for run in found.runs] == [("gone", None)]
    assert await office.found(person="@ada") == []


async def test_search_counts_damaged_runs_and_names_their_damage() -> None:
    office = Office()
    await office.add(Told("whole", 1))
    await office.add(Told("damaged", 2))
    office.store.damage("damaged")
    found = await office.search(text="hello")
    assert [(run.head.run, bool(run.damage)) for run in found.runs] == [("damaged", True), ("whole", False)]
    assert (found.searched, found.damaged) == (2, 1)


async def test_found_runs_name_their_person_and_channel() -> None:
    office = Office()
    await office.add(Told("r", 1))
    (run,) = (await office.search()).runs
    assert run.origin is not None
    assert (run.origin.person_shown, run.origin.channel_shown) == ("Ada Lovelace (U0ADA000)", "#deploys (C0DEPLOY0)")
