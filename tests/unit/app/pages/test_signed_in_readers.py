"""Page permissions on AWS: runs of channels that became private, prompts, and runs of private repositories."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gofer.journal.entries import Entry, MessageReceived, RunFinished, RunStarted
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.log import Pen, open_journal
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from support.app.page_browser import ADA, BOARD, GENERAL, OTHER, Browser, browser
from support.models.served import served
from support.stand_ins import make_outside

pytestmark = pytest.mark.anyio


def workflow(name: str, *triggers: object, owner: str = "#board") -> Loaded:
    form = Workflow.model_validate({"description": "What it does.", "owner": owner, "when": list(triggers)})
    return Loaded(name, form, f"The prompt of {name}.", f"agents/{name}.md", served("m"))


def catalog(*workflows: Loaded) -> Catalog:
    return Catalog({one.name: one for one in workflows}, Defaults())


def make_private(made: Browser, channel: str = GENERAL) -> None:
    channels = made.slack.workspace.channels
    channels[channel] = replace(channels[channel], kind="group")


async def status(made: Browser, path: str) -> int:
    return (await made.get(path)).status_code


async def test_run_of_a_channel_made_private_is_shown_to_members_and_unlisted() -> None:
    async with browser() as made:
        await made.sign_in(OTHER)
        before = (await status(made, "/runs/run1"), "run1" in (await made.get("/runs")).text)
        make_private(made)
        after = (await status(made, "/runs/run1"), "run1" in (await made.get("/runs")).text)
        await made.sign_in(ADA)
        member = (await status(made, "/runs/run1"), await status(made, "/runs/run1/trace"))
        listed = "run1" in (await made.get("/runs")).text
        head = await made.store.head("run1")
        assert await is_hidden("run1", made.store)
    assert (before, after, member, listed) == ((200, True), (404, False), (200, 200), False)
    assert head is not None
    assert head.private


@pytest.mark.parametrize("end", [(), (RunFinished("done"),)], ids=["before the end", "after the end"])
async def test_words_of_a_private_run_are_shown_to_its_members_only(end: Sequence[Entry]) -> None:
    paths = ("/runs/run2", "/runs/run2/trace", "/runs/run2/trace?full=1")
    async with browser() as made:
        journal, _ = await open_journal("run2", made.store, MemoryBlobs(), Pen("me", make_outside()))
        for entry in (RunStarted("no bundle", private=True), MessageReceived("the secret words"), *end):
            journal.add(entry)
        await journal.commit()
        await made.sign_in(OTHER)
        stranger = [await status(made, path) for path in paths]
        shortened = await status(made, "/runs/run2"[:-1])
        await made.sign_in(ADA)
        member = [(await made.get(path)).text for path in paths]
        await made.store.destroy_key("run2")
        await made.store.empty("run2")
        deleted = [await status(made, path) for path in paths]
    assert (stranger, deleted, shortened) == ([404] * 3, [404] * 3, 200)
    assert ["the secret words" in text for text in member] == [True] * 3


async def test_other_runs_of_a_channel_made_private_leave_the_lists() -> None:
    async with browser() as made:
        await made.sign_in(OTHER)
        make_private(made)
        await made.get("/runs/run1")
        listed = (await made.get("/runs")).text
        left = {run: run in listed for run in ("run1", "same1", "other1")}
        assert await status(made, "/runs/other1") == 200
    assert left == {"run1": False, "same1": False, "other1": True}


async def test_channel_that_the_bot_can_no_longer_see_counts_as_private() -> None:
    async with browser() as made:
        await made.sign_in(ADA)
        make_private(made)
        channels = made.slack.workspace.channels
        channels[GENERAL] = replace(channels[GENERAL], members=(ADA,))
        assert await status(made, "/runs/run1") == 404


async def test_run_of_a_channel_is_hidden_while_slack_cannot_confirm_a_public_channel() -> None:
    async with browser() as made:
        await made.sign_in(ADA)
        made.http.away = True
        assert await status(made, "/runs/run1") == 503
        made.http.away = False
        assert await status(made, "/runs/run1") == 200
        assert not await is_hidden("run1", made.store)


async def test_run_of_a_direct_message_is_shown_to_the_sender_only() -> None:
    async with browser() as made:
        await made.sign_in(OTHER)
        other = await status(made, "/runs/direct1")
        await made.sign_in(ADA)
        made.http.said["conversations.members"] = b'{"ok":false,"error":"missing_scope"}'
        assert (other, await status(made, "/runs/direct1"), made.counted) == (404, 200, [])


PRIVATE_ONLY = [
    [{"slack.mention": {"channels": "#board"}}],
    [{"slack.mention": {"channels": BOARD}}],
    [{"slack.mention": {"channels": "#boa*"}}, {"slack.reaction": {"emoji": "jira", "channels": ["#board"]}}],
    [{"slack.mention": {"channels": "#board", "follow_ups": True}}],
]


@pytest.mark.parametrize("triggers", PRIVATE_ONLY)
async def test_prompt_of_a_private_channel_workflow_is_shown_to_channel_members_only(triggers: list[object]) -> None:
    async with browser(catalog(workflow("w", *triggers))) as made:
        await made.sign_in(OTHER)
        assert await status(made, "/prompts/w") == 404
        await made.sign_in(ADA)
        assert await status(made, "/prompts/w") == 200
        made.become(ADA, restricted=True)
        assert await status(made, "/prompts/w") == 404


ELSEWHERE_TOO = [
    ["slack.mention"],
    [{"slack.mention": {"channels": "any"}}],
    [{"slack.mention": {"channels": "#board"}}, "slack.direct"],
    [{"slack.mention": {"channels": ["#board", "#deploys"]}}],
    [{"slack.mention": {"channels": "#board"}}, {"schedule": {"every": "10 minutes"}}],
]


@pytest.mark.parametrize("triggers", ELSEWHERE_TOO)
async def test_prompt_of_a_workflow_with_other_triggers_is_shown_to_all_full_members(
    triggers: list[object],
) -> None:
    async with browser(catalog(workflow("w", *triggers))) as made:
        await made.sign_in(OTHER)
        assert await status(made, "/prompts/w") == 200


async def test_channel_that_slack_does_not_list_counts_as_private() -> None:
    async with browser(catalog(workflow("w", {"slack.mention": {"channels": "#secret"}}))) as made:
        await made.sign_in(ADA)
        assert await status(made, "/prompts/w") == 404
        made.http.said["conversations.list"] = b'{"ok":false,"error":"missing_scope"}'
        assert await status(made, "/prompts/w") == 404
        assert made.counted == ["missing_scope"]


async def test_run_of_a_private_repository_is_shown_to_the_owner_channel_only() -> None:
    async with browser(catalog(workflow("reviews", "github.pull_request"))) as made:
        await made.sign_in(OTHER)
        other = [await status(made, path) for path in ("/runs/hub1", "/runs/hub2", "/runs/hub2/trace")]
        await made.sign_in(ADA)
        ada = [await status(made, path) for path in ("/runs/hub1", "/runs/hub2", "/runs/hub2/trace")]
    assert (other, ada) == ([200, 404, 404], [200, 200, 200])


@pytest.mark.parametrize("owner", ["@ada", "#nowhere"])
async def test_run_of_a_private_repository_is_hidden_without_an_owner_channel(owner: str) -> None:
    async with browser(catalog(workflow("reviews", "github.pull_request", owner=owner))) as made:
        await made.sign_in(ADA)
        assert await status(made, "/runs/hub2") == 404
