"""Status changes of Notion pages: each workflow acts once per real change."""

import copy
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer_simulators.faults import Fault
from gofer_simulators.notion.delivery import Pace
from gofer_simulators.notion.simulator import NotionSimulator
from support.app.company import Company, company
from support.app.one_workflow import Echo, world
from support.vendors.notion import ADA, CACHE, GUEST, RFCS, SAM, WORLD

pytestmark = pytest.mark.anyio
NO_CHANGE = "Status: it has not changed since the last look"
REVIEW = "{to: Ready for review}"


@asynccontextmanager
async def gofer(folder: Path, model: Echo | None = None, **workflows: str) -> AsyncIterator[Company]:
    """Run Gofer with workflows by name, each given as the conditions of `notion.status` on the database RFCs."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    for name, more in workflows.items():
        when = more if more.startswith("when:") else f"when: [{{notion.status: {{database: RFCs, {more[1:]}}}]"
        (agents / f"{name}.yaml").write_text(f'description: d\nowner: "#helpers"\n{when}\n')
        (agents / f"{name}.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    everything = {**world(), "notion": copy.deepcopy(WORLD)}
    async with company(folder, root=folder / "repository", world=everything, model=model or Echo()) as made:
        yield made


def notion(made: Company) -> NotionSimulator:
    system = made.embedded.simulated.system(NotionSimulator)
    assert system is not None
    return system


async def ended(made: Company, runs: int) -> Sequence[Head]:
    await notion(made).settled()
    heads = await made.ended(runs)
    assert len(heads) == runs
    return heads


def done(heads: Sequence[Head]) -> list[str]:
    return sorted(head.workflow for head in heads if head.status == "done")


def answers(made: Company) -> int:
    return str(notion(made).state()).count("Here you are.")


async def test_two_workflows_on_one_notion_database_each_act_once_per_change(tmp_path: Path) -> None:
    async with gofer(tmp_path, review=REVIEW, every="{from: Draft}") as made:
        notion(made).people.set_status("Cache", "Ready for review", by=ADA)
        heads = await ended(made, 2)
        assert done(heads) == ["every", "review"]
        notion(made).people.set_status("Cache", "Done", by=SAM)
        heads = await ended(made, 4)
        assert done(heads) == ["every", "review"]
        assert {head.reason for head in heads[2:]} == {
            "Status: it changed to another value",
            "Status: it changed from another value",
        }
        notion(made).people.set_status("Cache", "Ready for review", by=SAM)
        assert done(await ended(made, 6)) == ["every", "review", "review"]
        assert answers(made) == 3


@pytest.mark.parametrize("reverse", [False, True])
async def test_late_and_repeated_notion_events_in_any_order_are_one_change(tmp_path: Path, reverse: bool) -> None:
    async with gofer(tmp_path, review=REVIEW, other="{to: 'Ready*'}") as made:
        notion(made).hold()
        for status in ("Done", "Draft", "Ready for review"):
            notion(made).people.set_status("Cache", status, by=ADA)
        notion(made).people.set_values("Cache", {"Effort": 5}, by=SAM)
        notion(made).release(reverse=reverse, times=3)
        heads = await ended(made, 8)
        assert done(heads) == ["other", "review"]
        assert answers(made) == 2
        reasons = {head.reason for head in heads if head.status == "ignored"}
        # In reverse order, the event of the last edit comes first, and that edit did not change the status.
        assert reasons == {NO_CHANGE, "Status: the event does not list it"}
        again = notion(made).events[0]
        for attempt in (2, 3):
            assert await notion(made).deliver(again, attempt_number=attempt) == 200
        assert len(await ended(made, 8)) == 8


async def test_status_changes_gathered_by_notion_are_one_and_a_reverted_change_is_none(tmp_path: Path) -> None:
    async with gofer(tmp_path, review=REVIEW) as made:
        notion(made).keep_pace(Pace(window=60))
        notion(made).people.set_status("Cache", "Done", by=ADA)
        notion(made).people.set_status("Cache", "Ready for review", by=SAM)
        notion(made).people.set_values("Cache", {"Effort": 5}, by="Gofer")
        assert done(await ended(made, 1)) == ["review"]
        notion(made).people.set_status("Cache", "Draft", by=ADA)
        notion(made).people.set_status("Cache", "Ready for review", by=ADA)
        heads = await ended(made, 2)
    assert [head.status for head in heads] == ["done", "ignored"]
    assert heads[1].reason == NO_CHANGE


async def test_status_set_by_gofer_starts_no_run_and_the_next_change_by_a_person_does(tmp_path: Path) -> None:
    database = RFCS.replace("-", "")
    model = Echo([("notion_update_properties", {"page": CACHE, "properties": {"Status": "Done"}})])
    when = f"when: [{{notion.status: {{database: {database}, to: Ready for review}}}}]"
    watch = f"when: [{{notion.properties_updated: {{database: {RFCS}}}}}]"
    async with gofer(tmp_path, model, w=f"{when}\ntools: [notion_update_properties]", all=watch) as made:
        notion(made).people.set_status("Cache", "Ready for review", by=ADA)
        heads = await ended(made, 3)
        assert done(heads) == ["all", "w"]
        assert [head.reason for head in heads if head.status == "ignored"] == ["Status: only bots changed it"]
        notion(made).people.set_status("Cache", "Ready for review", by=ADA)
        assert done(await ended(made, 6)) == ["all", "all", "w", "w"]


async def test_notion_page_created_with_a_status_is_no_status_change(tmp_path: Path) -> None:
    async with gofer(tmp_path, review=REVIEW, new="when: [{notion.page_created: {database: RFCs}}]") as made:
        notion(made).people.create_page("RFCs", "Quotas", by=ADA, values={"Status": "Ready for review"})
        assert done(await ended(made, 1)) == ["new"]
        notion(made).people.set_status("Quotas", "Draft", by=ADA)
        notion(made).people.set_status("Quotas", "Ready for review", by=ADA)
        assert done(await ended(made, 3)) == ["new", "review"]


@pytest.mark.parametrize("named", ["RFCs", RFCS, RFCS.replace("-", ""), f"https://www.notion.so/{RFCS}?v=1"])
async def test_notion_database_condition_takes_name_id_or_link(tmp_path: Path, named: str) -> None:
    when = f"when: [{{notion.commented: {{database: '{named}'}}}}, {{notion.content_updated: {{database: '{named}'}}}}]"
    async with gofer(tmp_path, w=when) as made:
        notion(made).people.comment("Cache", "Why?", by=SAM)
        notion(made).people.write("Handbook", "More.", by=SAM)
        notion(made).people.comment("Handbook", "Why?", by=SAM)
        notion(made).people.write("Cache", "More.", by=SAM)
        heads = await ended(made, 3)
    assert [head.status for head in heads].count("done") == 2
    (elsewhere,) = [head for head in heads if head.status != "done"]
    assert elsewhere.status == "ignored"


async def test_guest_of_a_notion_page_starts_only_workflows_for_everyone(tmp_path: Path) -> None:
    commented = "when: [{notion.commented: {database: RFCs}}]"
    changed = "when: [{notion.content_updated: {database: RFCs}}]\nwho: everyone"
    async with gofer(tmp_path, colleagues=commented, all=changed) as made:
        notion(made).people.comment("Cache", "Why?", by=GUEST)
        notion(made).people.write("Cache", "More.", by=GUEST)
        heads = await ended(made, 2)
        assert done(heads) == ["all"]
        assert [head.reason for head in heads if head.workflow == "colleagues"] == [
            "a person from outside this workspace started it; the workflow is for members of this workspace"
        ]
        notion(made).people.comment("Cache", "Why?", by=SAM)
        assert done(await ended(made, 3)) == ["all", "colleagues"]


async def test_run_waits_while_notion_does_not_list_its_members(tmp_path: Path) -> None:
    async with gofer(tmp_path, review=REVIEW) as made:
        notion(made).faults.add("GET", "/v1/users", Fault("status", status=503), times=2)
        notion(made).people.set_status("Cache", "Ready for review", by=ADA)
        assert done(await ended(made, 1)) == ["review"]
