"""Mention workflows of two teams: the more specific one wins in its channels, the other one elsewhere."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.embedded.working import working
from gofer.app.event_input import way
from gofer.check.explain import Explanation, explain
from gofer.sources.workflow_files import load_catalog
from gofer.workflows.load import Catalog
from support.app.company import PATIENCE, Company, company
from support.app.one_workflow import DEPLOYS, GENERAL, GUEST, Echo, quiet, world
from support.runtime.worker_parts import FixedCatalog
from support.workflows import every_condition
from support.workflows.every_condition import Act, Scene, comment, issue, page, push, react, report, set_values

pytestmark = pytest.mark.anyio
EVENTS = Path(__file__).parents[1] / "events"
Files = Mapping[str, str]
DESK = 'when: [{slack.mention: {channels: "#deploys"}}]'
NAMES = ["a-deploy-desk", "deploy-desk"]
"""In the order of names, one comes before answer-here and one behind it."""


def write(folder: Path, files: Files) -> Path:
    """Write a repository with workflows, each given as its lines after description and owner."""
    agents = folder / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        (agents / f"{name}.yaml").write_text(f'description: d\nowner: "#helpers"\n{lines}\n')
        (agents / f"{name}.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    return folder


@asynccontextmanager
async def teams(folder: Path, files: Files, *, work: bool = True) -> AsyncIterator[Company]:
    root = write(folder / "repository", {"answer-here": "when: [slack.mention, slack.direct]", **files})
    async with company(folder, root=root, world=world(), model=Echo(), work=work) as made:
        yield made


async def outcomes(made: Company, runs: int) -> Mapping[str, tuple[str, str]]:
    """Return the last outcome of each workflow, once there are that many runs and all of them ended."""
    return {head.workflow: (head.status, head.reason) for head in await made.ended(runs)}


def explained(made: Company, channel: str) -> Explanation:
    """Return the explanation of a mention in a channel."""
    payload = json.loads((EVENTS / "slack_app_mention.json").read_bytes())
    payload["event"]["channel"] = channel
    (told,) = explain("mention.json", json.dumps(payload).encode(), way(made.embedded.catalog, "slack"))
    return told


@pytest.mark.parametrize("desk", NAMES)
async def test_mention_is_answered_by_the_workflow_that_names_the_channel(tmp_path: Path, desk: str) -> None:
    async with teams(tmp_path, {desk: DESK}) as made:
        told = explained(made, DEPLOYS)
        ranking = f'{desk} (`channels: "#deploys"`), else answer-here (any place)'
        assert told.decided == f"decided when the name of the channel can be read: {ranking}"
        assert told.workflows == tuple(sorted([desk, "answer-here"]))
        there = await made.ask("@Gofer is the deploy done?", "deploys")
        found = await outcomes(made, 2)
        assert found[desk] == ("done", "")
        place = f'{desk} (`channels: "#deploys"`)'
        reason = f"{place} wins: of the workflows that match, it names the place most specifically"
        assert found["answer-here"] == ("ignored", reason)
        elsewhere = await made.ask("@Gofer hello", "general")
        found = await outcomes(made, 4)
        assert found[desk] == ("ignored", f'{desk} requires `channels: "#deploys"`')
        assert found["answer-here"] == ("done", "")
        assert [len(made.answers(asked)) for asked in (there, elsewhere)] == [1, 1]


@pytest.mark.parametrize("desk", NAMES)
async def test_explain_and_run_agree_on_the_winner_for_a_channel_given_by_id(tmp_path: Path, desk: str) -> None:
    async with teams(tmp_path, {desk: f"when: [{{slack.mention: {{channels: {DEPLOYS}}}}}]"}) as made:
        told = explained(made, DEPLOYS)
        why = "because its trigger names the place more specifically"
        assert told.workflows == (desk,)
        assert told.decided == f"{desk} (`channels: {DEPLOYS}`) wins over answer-here (any place), {why}"
        await made.ask("@Gofer is the deploy done?", "deploys")
        assert {name: status for name, (status, _) in (await outcomes(made, 2)).items()} == {
            desk: "done",
            "answer-here": "ignored",
        }
        told = explained(made, GENERAL)
        assert (told.workflows, told.decided) == (("answer-here",), None)
        await made.ask("@Gofer hello", "general")
        assert [head.workflow for head in await made.ended(3)][2:] == ["answer-here"]


async def test_exact_channel_name_wins_over_pattern_and_pattern_over_any_channel(tmp_path: Path) -> None:
    files = {
        "exact": 'when: [{slack.mention: {channels: "#deploys"}}]',
        "pattern": "when: [{slack.mention: {channels: '*e*l*'}}]",
    }
    async with teams(tmp_path, files) as made:
        won = list[str]()
        for channel in ("deploys", "general", "pull-requests"):
            before = {head.run for head in await made.embedded.state.store.heads(1000, private=True)}
            await made.ask("@Gofer hello", channel)
            heads = await made.ended(len(before) + 1)
            won += [head.workflow for head in heads if head.status == "done" and head.run not in before]
    assert won == ["exact", "pattern", "answer-here"]


async def test_guest_refused_by_the_winning_workflow_gets_one_notice(tmp_path: Path) -> None:
    async with teams(tmp_path, {"deploy-desk": f"{DESK}\nwho: members"}) as made:
        said = await made.slack.say(GUEST, DEPLOYS, "<@U0GOFER0> hello")
        found = await outcomes(made, 2)
        assert found["deploy-desk"] == ("ignored", "a guest started it; the workflow is for members of this workspace")
        assert 'deploy-desk (`channels: "#deploys"`) wins' in found["answer-here"][1]
        assert len(made.slack.workspace.whispers) == 1
        assert made.answers(said) == []


async def test_guest_refused_by_the_losing_workflow_gets_no_notice(tmp_path: Path) -> None:
    files = {"answer-here": "when: [slack.mention]\nwho: U0ONCAL0", "deploy-desk": f"{DESK}\nwho: everyone"}
    async with teams(tmp_path, files) as made:
        said = await made.slack.say(GUEST, DEPLOYS, "<@U0GOFER0> hello")
        found = await outcomes(made, 2)
        assert found["deploy-desk"] == ("done", "")
        assert "wins" in found["answer-here"][1]
        assert made.slack.workspace.whispers == []
        assert len(made.answers(said)) == 1


PLACES: Mapping[str, tuple[dict[str, object], dict[str, object], Sequence[Act], Sequence[Act]]] = {
    "jira.issue_created": ({}, {"project": "PAY"}, [issue("PAY")], [issue("OPS")]),
    "jira.commented": ({}, {"project": "PAY"}, [issue("PAY"), comment()], [issue("OPS"), comment()]),
    "notion.page_created": ({"database": "*o*"}, {"database": "Notes"}, [page()], []),
    "notion.status": (
        {"database": "No*", "to": "Ready"},
        {"database": "Notes", "to": "Ready"},
        [page(), set_values(Status="Ready")],
        [],
    ),
    "github.push": ({"branch": "main"}, {"repository": "acme/shop"}, [push()], [push("acme/app")]),
    "github.issue": ({"repository": "acme/*"}, {"repository": "acme/shop"}, [report()], [report("acme/app")]),
    "slack.reaction": ({"emoji": "jira"}, {"emoji": "jira", "channels": "dep*"}, [react("jira")], []),
}
"""For each trigger: conditions of a wide and a narrow workflow, events in the narrow one's place, and elsewhere."""


@pytest.mark.parametrize("kind", PLACES)
async def test_narrower_workflow_wins_for_every_kind_of_trigger(tmp_path: Path, kind: str) -> None:
    wide, narrow, there, elsewhere = PLACES[kind]
    triggers = {"wide": wide, "narrow": narrow}
    files = {name: f"when: [{json.dumps({kind: trigger})}]\nreply: none" for name, trigger in triggers.items()}
    root = write(tmp_path / "repository", files)
    async with company(tmp_path, root=root, world=every_condition.world(), model=Echo()) as made:
        scene = Scene(made, call=nothing, fire_schedule=nothing, follow=nothing)
        for act in there:
            await act(scene)
            await made.embedded.simulated.settled()
        found = await outcomes(made, 2)
        assert {name: status for name, (status, _) in found.items()} == {"narrow": "done", "wide": "ignored"}
        assert found["wide"][1].startswith("narrow (`") or not found["wide"][1]
        for act in elsewhere:
            await act(scene)
            await made.embedded.simulated.settled()
        if elsewhere:
            assert [head.workflow for head in await made.ended(3)][2:] == ["wide"]


async def nothing(what: object) -> None:
    """Do nothing: no webhook is called and no schedule fires here."""


CHANGES: Mapping[str, Files] = {
    "the winner listens elsewhere": {"deploy-desk": 'when: [{slack.mention: {channels: "#general"}}]'},
    "the winner is not more specific any more": {"deploy-desk": "when: [slack.direct]"},
    "the loser becomes more specific": {"answer-here": f"when: [{{slack.mention: {{channels: {DEPLOYS}}}}}]"},
    "a third one is more specific than both": {
        "deploy-desk": "when: [slack.direct]",
        "third": 'when: [{slack.mention: {channels: "#deploys"}}]',
    },
}


async def admitted_after_a_publish(folder: Path, before: Mapping[str, str], later: Catalog) -> tuple[str, str]:
    """Return the statuses of the runs of one mention, accepted before a publish and admitted after it."""
    async with teams(folder, before, work=False) as made:
        asked = await made.ask("@Gofer is the deploy done?", "deploys")
        assert len(await quiet(made)) == 2
        worker = made.embedded.worker
        services = replace(worker.services, patience=PATIENCE, model=Echo())
        async with working(replace(worker, services=services, workflows=FixedCatalog(later))):
            found = await outcomes(made, 2)
        assert len(made.answers(asked)) == 1
    return found["answer-here"][0], found["deploy-desk"][0]


@pytest.mark.parametrize("change", CHANGES)
async def test_publish_between_acceptance_and_admission_leaves_one_answer(tmp_path: Path, change: str) -> None:
    before = {"answer-here": "when: [slack.mention]", "deploy-desk": DESK}
    later = load_catalog(write(tmp_path / "later", {**before, **CHANGES[change]}) / "agents")
    assert await admitted_after_a_publish(tmp_path, before, later) == ("ignored", "done")


@pytest.mark.parametrize(
    ("gone", "outcomes_"), [("answer-here", ("ignored", "done")), ("deploy-desk", ("ignored", "failed"))]
)
async def test_removed_workflow_reports_a_failure_only_as_the_winner(
    tmp_path: Path, gone: str, outcomes_: tuple[str, str]
) -> None:
    before = {"answer-here": "when: [slack.mention]", "deploy-desk": DESK}
    left = {name: lines for name, lines in before.items() if name != gone}
    later = load_catalog(write(tmp_path / "later", left) / "agents")
    assert await admitted_after_a_publish(tmp_path, before, later) == outcomes_


async def test_unreadable_thread_is_reported_by_one_of_two_workflows(tmp_path: Path) -> None:
    async with teams(tmp_path, {"deploy-desk": DESK}, work=False) as made:
        asked = await made.ask("@Gofer is the deploy done?", "deploys")
        assert len(await quiet(made)) == 2
        made.slack.fail_next("conversations.replies", "missing_scope", "missing_scope")
        worker = made.embedded.worker
        services = replace(worker.services, patience=PATIENCE, model=Echo())
        async with working(replace(worker, services=services)):
            found = await outcomes(made, 2)
        assert (found["answer-here"][0], found["deploy-desk"][0]) == ("ignored", "failed")
        assert len(made.answers(asked)) == 1
