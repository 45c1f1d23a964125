"""Conditions checked in a run: the reason names the unmet condition and never the value that was found."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.engine.conditions import DoesNotMatch, check_conditions, routes_of
from gofer.sources.workflow_files import TriggerForm as Trigger
from gofer.sources.workflow_files import load_catalog
from gofer.values.events import Event
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of
from support.stand_ins import mention

pytestmark = pytest.mark.anyio

FOUND = "salaries-2026"


def loaded(folder: Path, when: str) -> Loaded:
    agents = folder / "agents"
    agents.mkdir()
    (agents / "w.yaml").write_text(f'description: Does it.\nowner: "#dev-experience"\nwhen:\n  - {when}\n')
    (agents / "w.md").write_text("Do it.\n")
    return load_catalog(agents).workflows["w"]


def happened(kind: str) -> Event:
    return replace(mention(), kind=kind)


def check(event: Event, workflow: Loaded, facts: Mapping[str, object], why: str = "") -> None:
    check_conditions(event, routes_of(event, workflow, ()), facts, why)


@pytest.mark.parametrize(
    ("when", "kind", "facts", "reason"),
    [
        (
            "slack.message: {channels: '#dep*'}",
            "slack.message",
            {"channels": FOUND, "bot": False, "reply": False},
            'w requires `channels: "#dep*"`',
        ),
        (
            "jira.commented: {label: urgent, says: '*@gofer*'}",
            "jira.commented",
            {"labels": [FOUND], "says": FOUND},
            "w requires `label: urgent` and has a condition on the text (`says`) that is not met",
        ),
        (
            "jira.issue_created: {label: urgent}",
            "jira.issue_created",
            {},
            "w requires `label: urgent`, which is not known here",
        ),
        (
            "slack.mention: {follow_ups: true}",
            "slack.message",
            {"bot": False, "reply": True, "followed": False},
            (
                "w takes messages without a mention only as replies in threads that it answered in, and none that "
                "begins with the mention of somebody else (`follow_ups`)"
            ),
        ),
    ],
)
def test_ignored_run_names_the_unmet_condition_and_not_the_found_value(
    tmp_path: Path, when: str, kind: str, facts: Mapping[str, object], reason: str
) -> None:
    with pytest.raises(DoesNotMatch) as raised:
        check(happened(kind), loaded(tmp_path, when), facts)
    assert str(raised.value) == reason
    assert FOUND not in reason


def test_given_reason_of_an_ignored_run_is_kept(tmp_path: Path) -> None:
    with pytest.raises(DoesNotMatch, match="Status: it changed to another value"):
        check(
            happened("jira.issue_created"),
            loaded(tmp_path, "jira.issue_created: {label: urgent}"),
            {},
            "Status: it changed to another value",
        )


async def test_conditions_settled_by_the_delivery_are_checked_before_any_lookup() -> None:
    made = memory_worker(says("Hello."))
    loaded = catalog_of(made.worker).workflows["answer-here"]
    conditions = {"channels": "any", "mention": True, "says": "*is down for a week*"}
    trigger = Trigger.model_validate({"slack.message": conditions})
    workflow = loaded.workflow.model_copy(update={"when": (trigger,)})
    made.worker = replace(
        made.worker, workflows=FixedCatalog(Catalog({"answer-here": replace(loaded, workflow=workflow)}, Defaults()))
    )
    made.unknown = "missing_scope"
    await made.accept("run1")
    await made.work_once()
    assert await made.status("run1") == "ignored"
