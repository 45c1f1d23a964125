"""Statistics of stored runs, and the reports for the channels of owners."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.journal.store import Store
from gofer.runtime.weekly.stored_statistics import StoredStatistics
from gofer.sources.runs.run_statistics import ReadStatistics
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from support.models.served import served
from support.runtime.worker_parts import FixedCatalog
from support.stand_ins import any_store

pytestmark = pytest.mark.anyio

NOW = 100 * DAY_MS
FACTS = HeadFacts(tools={"slack_read_thread": ToolCount(3, 1)}, usd=0.25, answer_ms=2_000, good=1)


def loaded(name: str, owner: str, tools: tuple[str, ...] = (), when: str = "slack.mention") -> Loaded:
    form = Workflow.model_validate({"description": "d", "owner": owner, "when": [when], "tools": [*tools]})
    return Loaded(name, form, "Be brief.", f"agents/{name}.md", served("m"))


CATALOG = Catalog(
    {
        each.name: each
        for each in (
            loaded("answer-here", "#dev", ("slack_read_thread", "slack_add_reaction")),
            loaded("file-ticket", "#ops"),
            loaded("old", "#dev"),
            loaded("tell", "#dev", when="runs.feedback"),
            loaded("of-a-group", "@dev"),
        )
    },
    Defaults(),
)


def head(run: str, day: int, facts: HeadFacts = FACTS, **changes: object) -> Head:
    made = Head(run, "answer-here", "c", day * DAY_MS, "done", private=False, facts=encode(facts))
    return replace(made, **changes)


async def read(store: Store, **arguments: object) -> Mapping[str, object]:
    statistics = StoredStatistics(store, FixedCatalog(CATALOG).holding)
    return await statistics.read(NOW / 1000, ReadStatistics.model_validate(arguments))


def rows(found: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    workflows = cast("list[Mapping[str, object]]", found["workflows"])
    return {str(row["workflow"]): row for row in workflows}


def reports(found: Mapping[str, object]) -> Mapping[str, str]:
    listed = cast("list[Mapping[str, str]]", found["reports"])
    return {each["channel"]: each["text"] for each in listed}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_runs_of_the_days_and_of_the_days_before_are_counted(kind: str, tmp_path: Path) -> None:
    with any_store(kind, tmp_path) as store:
        for made in (
            head("a", 99),
            head("b", 98, replace(FACTS, usd=0.75, answer_ms=4_000, bad=2), retention="unseen"),
            head("c", 97, replace(FACTS, cause="outage", system="Slack"), status="failed"),
            head("d", 90),
            head("private", 99, private=True),
            head("of-a-removed-workflow", 99, workflow="gone"),
            head("later", 101),
        ):
            await store.create_head(made)
        found = await read(store)
    row = rows(found)["answer-here"]
    assert (row["runs"], row["runs_before"], row["without_their_work_done"]) == (3, 1, 1)
    assert (row["cost_usd"], row["good_feedback"], row["bad_feedback"]) == (1.25, 3, 2)
    assert row["causes"] == [{"cause": "outage", "system": "Slack", "runs": 1}]
    assert row["waiting_for_the_owner"] == 1
    assert rows(found)["old"]["runs"] == 0
    assert found["reviewer"] == {"counts": False, "agreement": "agreement with feedback not measured"}
    assert found["reports"] == []


async def test_each_channel_gets_one_report_about_its_workflows(tmp_path: Path) -> None:
    with any_store("memory", tmp_path) as store:
        for day in range(70, 100):
            await store.create_head(head(f"run{day}", day))
        await store.create_head(head("bad", 99, replace(FACTS, bad=1), retention="unseen"))
        await store.create_head(head("away", 99, replace(FACTS, cause="outage", system="Slack"), status="failed"))
        told = reports(await read(store, reports=True))
    assert sorted(told) == ["#dev", "#ops"]
    assert told["#dev"] == (
        "**Gofer, the last 7 days:** 9 runs, 2.25 USD, 1 without their work done."
        " The 7 days before: 7 runs, 1.75 USD, 0 without their work done.\n\n"
        "- `answer-here`: 9 runs (+2), 2.25 USD (+0.50), half of the answers within 2 s, 95 % within 2 s,"
        " feedback 9 good and 1 bad\n\n"
        "**Failures**\n\n- `answer-here`: 1 × outage (Slack)\n\n"
        "**Runs with bad feedback that wait for you:** 1 of `answer-here`. `gofer feedback` lists them.\n\n"
        "**Not used for 30 days**\n\n"
        "- no run, except in private places: `old`\n"
        "- `answer-here`: the tools `slack_add_reaction`\n\n"
        "Look for an edit: `gofer suggest answer-here`."
    )
    assert "`file-ticket`" in told["#ops"]


@pytest.mark.parametrize(("agreeing", "shown"), [(0, False), (20, True)])
async def test_reviews_are_reported_only_beside_measured_agreement(agreeing: int, shown: bool, tmp_path: Path) -> None:
    with any_store("memory", tmp_path) as store:
        for number in range(agreeing):
            verdict = replace(FACTS, effective=True) if number % 2 else replace(FACTS, good=0, bad=1, effective=False)
            await store.create_head(head(f"rated{number}", 98, verdict))
        await store.create_head(head("a", 99, replace(FACTS, good=0, effective=True)))
        found = await read(store, reports=True)
    assert ("reviewed runs effective" in reports(found)["#dev"]) == shown
    assert found["reviewer"] == {
        "counts": shown,
        "agreement": f"agreement with feedback {'1.00 of 20 runs' if shown else 'not measured'}",
    }


async def test_workflow_is_counted_with_the_agreement_of_all(tmp_path: Path) -> None:
    with any_store("memory", tmp_path) as store:
        await store.create_head(head("a", 99))
        found = await read(store, workflow="file-ticket")
    assert list(rows(found)) == ["file-ticket"]
