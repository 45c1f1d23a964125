"""Status changes of a Notion page: each workflow acts once per change, wherever a worker crashes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.sources.notion.comments import AddComment
from gofer.sources.notion.get_page import GetPage
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.events import Actor, Event
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import CATALOG, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog
from support.stand_ins import TOKENS, make_outside

pytestmark = pytest.mark.anyio
DATABASE, PAGE, STATUS = "0" * 31 + "1", "p1", "St%3D1"
NOTHING_NEW = ("ignored", "Status: it has not changed since the last look")
ANY: dict[str, Any] = {"database": "RFCs"}


class Notion:
    """A page with a status, and the comments written about it."""

    def __init__(self, status: str | None = "Ready") -> None:
        self.status = status
        self.after: list[str | None] = []
        """The status after each of the next reads."""
        self.looks = 0
        self.said: list[str] = []
        self._keys: list[str] = []

    async def read(self, call: Call, arguments: GetPage) -> ToolResult:
        self.looks += 1
        properties = {"Status": {"id": STATUS, "value": self.status}}
        if self.after:
            self.status = self.after.pop(0)
        facts = {"database": [DATABASE, "RFCs"], "database_id": [DATABASE]}
        return ToolResult("A page", "read", {"private": False, "properties": properties, "facts": facts})

    async def comment(self, call: Call, arguments: AddComment) -> ToolResult:
        # As in Notion, a call with the same key is the same comment.
        if call.key not in self._keys:
            self._keys.append(call.key)
            self.said.append(call.key.partition("/")[0])
        return ToolResult("Said", "said")


class Talker:
    async def ask(self, body: bytes, timeout: float) -> Any:
        return says("Reviewed.")


def notion_office(notion: Notion, *conditions: dict[str, Any]) -> MemoryWorker:
    made = memory_worker()
    when = [{"notion.status": one} for one in conditions]
    workflow = Workflow.model_validate({"description": "d", "owner": "#o", "when": when, "reply": "thread"})
    tools = {
        "notion_get_page": Tool("notion_get_page", "", "read", GetPage, notion.read),
        "notion_add_comment": Tool("notion_add_comment", "", "keyed", AddComment, notion.comment),
    }
    services = replace(
        made.worker.services,
        tools={**made.worker.services.tools, **tools},
        model=Talker(),
        installation_key=InstallationKey(Secret("0" * 64)),
    )
    loaded = {name: replace(CATALOG.workflows["answer-here"], name=name, workflow=workflow) for name in ("w", "v")}
    made.worker = replace(
        made.worker, services=services, workflows=FixedCatalog(Catalog(loaded, Defaults())), alone=True
    )
    return made


def status_event(run: str, listed: Sequence[str] = (STATUS,), *, bot: bool = False) -> Event:
    actor = Actor("b1", "bot") if bot else Actor("ada")
    facts: dict[str, object] = {"database_id": [DATABASE], "properties": list(listed), "bot": bot}
    return Event("notion", "notion.properties_updated", (run,), "notion:s:p1", actor, "", {"page": PAGE}, False, facts)


async def happens(made: MemoryWorker, run: str, event: Event | None = None, workflow: str = "w", at: int = 1) -> None:
    event = event or status_event(run)
    await claim(run, RunAccepted(event, workflow), Pen("ingress", make_outside()), made.store, made.blobs)
    await made.store.create_head(Head(run, workflow, TOKENS.conversation(event.conversation), at, private=False))
    await made.queue.enqueue(run)


async def work(made: MemoryWorker, rounds: int = 6) -> None:
    for _ in range(rounds):
        await made.work_once_or_crash()
        made.clock.advance(130)


async def reason(made: MemoryWorker, run: str) -> tuple[str, str]:
    head = await made.store.head(run)
    assert head is not None
    return head.status, head.reason


async def test_notion_status_change_starts_one_run_and_a_repeated_event_none() -> None:
    notion = Notion()
    made = notion_office(notion, ANY)
    for number in (1, 2):
        await happens(made, f"run{number}", at=number)
        await work(made)
    assert notion.said == ["run1"]
    assert await reason(made, "run2") == NOTHING_NEW
    notion.status = "Done"
    await happens(made, "run3", at=3)
    await work(made)
    assert notion.said == ["run1", "run3"]


async def test_notion_status_change_is_seen_by_each_workflow() -> None:
    notion = Notion()
    made = notion_office(notion, ANY)
    for number, (run, workflow) in enumerate([("run1", "w"), ("run2", "v"), ("run3", "w"), ("run4", "v")]):
        await happens(made, run, workflow=workflow, at=number)
    await work(made)
    assert notion.said == ["run1", "run2"]


@pytest.mark.parametrize(
    ("conditions", "statuses", "acts"),
    [
        ([{"to": "ready"}], ["Draft", "Ready", "Done"], [2]),
        ([{"to": "Re*"}], ["Draft", "Ready", "Review"], [2, 3]),
        ([{"from": "ready"}], ["Ready", "Done", "Draft"], [2]),
        ([{"from": "Draft", "to": "Ready"}], ["Done", "Ready", "Draft", "Ready"], [4]),
        ([{"from": "Draft", "to": "Ready"}], ["Ready"], [1]),
        ([{"from": "Draft"}], ["Draft", None, "Draft"], [2]),
        ([{"to": "Ready"}, {"to": "Done"}], ["Ready", "Draft", "Done"], [1, 3]),
        ([{"to": "Draft"}, {"property": "status", "to": "Done"}], ["Draft", "Done"], [1, 2]),
        ([{"property": "Stage"}], ["Draft"], []),
        ([{"database": "Salaries"}], ["Draft"], []),
        ([{"database": "rfc*"}], ["Draft"], [1]),
        ([{"database": "00000000-0000-0000-0000-000000000001"}], ["Draft"], [1]),
    ],
)
async def test_notion_status_conditions_select_the_changes_acted_on(
    conditions: list[dict[str, Any]], statuses: list[str | None], acts: list[int]
) -> None:
    notion = Notion()
    made = notion_office(notion, *(ANY | one for one in conditions))
    for number, status in enumerate(statuses, 1):
        notion.status = status
        await happens(made, f"run{number}", at=number)
        await work(made, 2)
    assert notion.said == [f"run{number}" for number in acts]


async def test_notion_status_reasons_explain_without_naming_values() -> None:
    notion = Notion("Secret plan")
    made = notion_office(notion, ANY | {"to": "Ready"}, ANY | {"property": "Stage"})
    await happens(made, "run1")
    await happens(made, "run2", status_event("run2", ["title"]), at=2)
    await happens(made, "run3", status_event("run3", bot=True), at=3)
    await work(made)
    stage = "Stage: the page has no such property"
    assert [await reason(made, run) for run in ("run1", "run2", "run3")] == [
        ("ignored", f"Status: it changed to another value; {stage}"),
        ("ignored", f"Status: the event does not list it; {stage}"),
        ("ignored", f"Status: only bots changed it; {stage}"),
    ]
    assert "plan" not in str(made.store._memos).lower()
    assert PAGE not in str(made.store._memos)


async def test_notion_status_set_again_by_a_person_after_gofer_changed_the_page_matches() -> None:
    notion = Notion()
    made = notion_office(notion, ANY | {"from": "Reviewed", "to": "Ready"})
    for number, (status, bot) in enumerate([("Ready", False), ("Reviewed", True), ("Ready", False)], 1):
        notion.status = status
        await happens(made, f"run{number}", status_event(f"run{number}", bot=bot), at=number)
        await work(made, 2)
    assert notion.said == ["run1", "run3"]
    assert (await reason(made, "run2"))[0] == "ignored"


async def test_notion_status_memory_of_a_frozen_worker_does_not_replace_a_newer_entry() -> None:
    notion = Notion("Draft")
    made = notion_office(notion, ANY)
    exchange = made.store.exchange_memo
    late: list[str] = []

    async def overtaken(key: str, was: str | None, value: str, at: int) -> str:
        if not late:
            late.append(await exchange(key, was, f"run0 person:{'f' * 64} -", at))
        return await exchange(key, was, value, at)

    made.store.exchange_memo = overtaken  # type: ignore[method-assign]
    await happens(made, "run1")
    await made.work_once_or_crash()
    assert await made.store.memo(next(iter(made.store._memos))) == late[0]
    assert notion.said == []
    await work(made)
    assert notion.said == ["run1"]


async def test_notion_status_memory_of_a_crashed_run_does_not_keep_an_undone_value() -> None:
    notion = Notion("Draft")
    made = notion_office(notion, ANY)
    await happens(made, "run1")
    await work(made, 2)
    _lose(made, [("memo", True, 1)])
    notion.status, notion.after = "Ready", ["Draft"]
    await happens(made, "run2", at=2)
    await work(made)
    assert (notion.looks, await reason(made, "run2")) == (3, NOTHING_NEW)
    notion.status = "Ready"
    await happens(made, "run3", at=3)
    await work(made)
    assert notion.said == ["run1", "run3"]


CRASHES = st.lists(st.tuples(st.sampled_from(["memo", "frame"]), st.booleans(), st.integers(1, 6)), max_size=3)


@given(CRASHES, st.lists(st.sampled_from(["Ready", "Done"]), max_size=3))
async def test_notion_status_change_starts_one_run_wherever_a_worker_crashes(
    crashes: list[tuple[str, bool, int]], between: list[str]
) -> None:
    notion = Notion("Draft")
    made = notion_office(notion, ANY)
    await happens(made, "run1")
    await work(made, 2)
    _lose(made, crashes)
    notion.status = "Ready"
    # Changes between the reads of one run cause no event of their own.
    notion.after = list(between)
    await happens(made, "run2", at=2)
    await work(made, 8)
    notion.after = []
    notion.status = "Draft"
    await happens(made, "run3", at=3)
    await work(made)
    assert notion.said == ["run1", "run2", "run3"]
    await happens(made, "run4", at=4)
    await work(made)
    assert notion.said == ["run1", "run2", "run3"]


def _lose(made: MemoryWorker, crashes: list[tuple[str, bool, int]]) -> None:
    """Crash the worker at the n-th write of a kind from now on, before or after it."""
    create, exchange, counts = made.store.create, made.store.exchange_memo, {"memo": 0, "frame": 0}

    def due(kind: str, after: bool) -> bool:
        return (kind, after, counts[kind]) in crashes

    async def mortal(run: str, n: int, frame: bytes) -> bytes | None:
        counts["frame"] += 1
        if due("frame", False):
            raise Crashed
        written = await create(run, n, frame)
        if due("frame", True):
            raise Crashed
        return written

    async def forgetful(key: str, was: str | None, value: str, at: int) -> str:
        counts["memo"] += 1
        if due("memo", False):
            raise Crashed
        stands = await exchange(key, was, value, at)
        if due("memo", True):
            raise Crashed
        return stands

    made.store.create, made.store.exchange_memo = mortal, forgetful  # type: ignore[method-assign]


async def test_last_look_at_a_status_is_remembered_after_a_rotation_of_the_installation_key() -> None:
    notion = Notion()
    made = notion_office(notion, ANY | {"from": "Ready"})
    notion.status = "Ready"
    await happens(made, "run1")
    await work(made)
    for number, others in enumerate([("2" * 64, "0" * 64), ("0" * 64, "2" * 64), ("2" * 64, "0" * 64)], 2):
        rotated = InstallationKey(Secret(others[0]), (Secret(others[1]),))
        made.worker = replace(made.worker, services=replace(made.worker.services, installation_key=rotated))
        await happens(made, f"run{number}", at=number)
        await work(made)
        assert await reason(made, f"run{number}") == NOTHING_NEW
    notion.status = "Done"
    await happens(made, "run5", at=5)
    await work(made)
    assert notion.said == ["run5"]
