"""Each shipped workflow through the whole of Gofer: what people do, the world afterwards, and the journal."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.entries import LlmRequest, SubagentFinished, ToolCall
from gofer.runtime.retention import Purger
from gofer.values.outside import SystemClock
from gofer_simulators.slack.workspace import Message
from support.app import shipped_workflows
from support.app.company import ROOT, Company, company, links
from support.app.one_workflow import Echo
from support.app.shipped_workflows import (
    BOT,
    CAPTAIN,
    CHECKOUT,
    GENERAL,
    NEWCOMER,
    ONCALL,
    PULLS,
    SUPPORT,
    github,
    jira,
)
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio


async def ended(made: Company, workflow: str, runs: int = 1) -> Sequence[Head]:
    """Return the runs of a workflow, oldest first, once there are that many and all runs ended."""
    async with asyncio.timeout(60):
        while True:
            await made.embedded.simulated.settled()
            heads = await made.embedded.state.store.heads(1000, private=True)
            ours = [head for head in heads if head.workflow == workflow]
            if len(ours) >= runs and all(head.status not in UNFINISHED for head in heads):
                return sorted(ours, key=lambda head: head.accepted_at)
            await asyncio.sleep(0.02)


async def answered(made: Company, asked: Message, answers: int) -> None:
    """Wait until a thread has that many answers in their final form."""
    async with asyncio.timeout(60):
        while len(found := made.answers(asked)) < answers or not all(answer.edited_ts for answer in found):
            await asyncio.sleep(0.02)


async def calls(made: Company, head: Head, tool: str) -> list[str]:
    """Return the calls of a tool in a run."""
    return [one.call for one in await made.entries(head.run) if isinstance(one, ToolCall) and one.tool == tool]


def issues(made: Company) -> dict[str, Any]:
    return dict(jira(made).state())


def pull(made: Company, number: int) -> dict[str, Any]:
    state: Any = github(made).state()
    return state["repositories"]["acme/shop"]["pulls"][str(number)]


async def test_second_person_wanting_a_ticket_gets_the_same_ticket_privately(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        before = set(issues(made))
        about = await shipped_workflows.two_people_react(made)
        first, second = await ended(made, "file-ticket", 2)
        (key,) = set(issues(made)) - before
        issue = issues(made)[key]
        link = made.slack.workspace.permalink(about)
        assert (issue["type"], issue["labels"]) == ("Bug", ["customer-visible"])
        assert [one["url"] for one in issue["remote_links"]] == [link]
        assert link in issue["description"]
        (told,) = made.answers(about)
        assert key in told.text
        assert links(told)[f"run {first.run[:8]}"] == f"{made.embedded.url}/runs/{first.run}"
        assert second.status == "done"
        (word,) = made.slack.whispers(shipped_workflows.CHECKOUT)
        assert word.text.startswith("Already filed: ")
        assert key in word.text


@pytest.mark.parametrize("days", [1, 31])
async def test_reaction_days_later_gets_the_same_ticket(tmp_path: Path, days: int) -> None:
    async with company(tmp_path) as made:
        before = set(issues(made))
        about = await shipped_workflows.two_people_react(made)
        await ended(made, "file-ticket", 2)
        (key,) = set(issues(made)) - before
        state, later = made.embedded.state, SetClock(SystemClock().now() + days * 86_400)
        purged = await Purger(state.stores, later).purge()
        assert (purged.deleted > 0) == (days > 30)
        await made.slack.react(NEWCOMER, about.channel, about.ts, "jira")
        if days > 30:
            # The journals are deleted, so both calls are made again under their keys.
            await answered(made, about, 2)
        async with asyncio.timeout(60):
            # The status message is deleted after the private message.
            while days <= 30 and (not made.slack.whispers(NEWCOMER) or len(made.answers(about)) > 1):
                await asyncio.sleep(0.02)
        assert set(issues(made)) - before == {key}
        assert len(issues(made)[key]["remote_links"]) == 1
        told = [*made.answers(about), *made.slack.whispers(NEWCOMER)]
        assert [key in answer.text for answer in told] == [True] * 2


async def test_question_in_a_jira_comment_is_answered_by_a_comment(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        before = issues(made)["PAY-17"]["comments"]
        await shipped_workflows.ask_in_jira(made)
        (head,) = await ended(made, "answer-in-jira")
        asked, answer = issues(made)["PAY-17"]["comments"][len(before) :]
        assert asked["author"] == "712020:support"
        assert answer["author"] == "712020:gofer"
        assert "Not yet" in answer["body"]
        # Neither its own comment nor a comment without a mention starts a run.
        jira(made).people.comment("712020:support", jira(made).site.issue("PAY-17"), "thanks")
        runs = await ended(made, "answer-in-jira")
        assert [one.run for one in runs if one.status == "done"] == [head.run]
        assert len(issues(made)["PAY-17"]["comments"]) == len(before) + 3


async def test_weekly_digest_fired_twice_is_one_message(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        said = len(made.slack.workspace.timeline(GENERAL))
        await shipped_workflows.fire_digest(made)
        await shipped_workflows.fire_digest(made)
        (head,) = await ended(made, "weekly-digest")
        (digest,) = made.slack.workspace.timeline(GENERAL)[said:]
        assert digest.user == BOT
        assert "Incidents" in digest.text
        assert len(await calls(made, head, "slack_read_channel")) == 2
        # The last line of the script is for the trace only.
        assert "newest messages of two channels" not in digest.text


async def test_new_hire_checklist_is_made_once_for_repeated_hook_calls(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        before, said = set(issues(made)), len(made.slack.workspace.timeline(GENERAL))
        assert [await shipped_workflows.hire(made), await shipped_workflows.hire(made)] == [200, 200]
        assert await shipped_workflows.hire(made, {**shipped_workflows.HIRE, "start": "2027-01-01"}) == 409
        (head,) = await ended(made, "new-hire-checklist")
        new = sorted(set(issues(made)) - before)
        assert [issues(made)[key]["summary"].split()[0] for key in new] == ["Prepare", "Grant"]
        assert {key.partition("-")[0] for key in new} == {"OPS"}
        (posted,) = made.slack.workspace.timeline(GENERAL)[said:]
        assert all(key in posted.text for key in new)
        assert head.status == "done"


async def test_posted_pull_request_is_marked_when_merged_or_closed(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        address = "<https://github.com/acme/shop/pull/{}>"
        both = await made.slack.say(CHECKOUT, PULLS, f"{address.format(41)} goes before {address.format(42)}")
        marked = await made.slack.say(CHECKOUT, PULLS, f"again {address.format(41)}")
        await made.slack.react(CAPTAIN, PULLS, marked.ts, "merged")
        first, second = (
            shipped_workflows.last(made, PULLS, "have a look"),
            shipped_workflows.last(made, PULLS, "My first one"),
        )
        await shipped_workflows.merge(made)
        (head,) = await ended(made, "mark-merged")

        def reactions(ts: str) -> dict[str, tuple[str, ...]]:
            return dict(made.slack.workspace.message(PULLS, ts).reactions)

        assert reactions(first.ts) == {"merged": (BOT,)}
        assert reactions(second.ts) == {}
        github(made).people.close(github(made).issue("acme/shop", 42), "new-colleague")
        await ended(made, "mark-merged", 2)
        assert reactions(second.ts) == {"no_entry_sign": (BOT,)}
        assert reactions(first.ts) == {"merged": (BOT,)}
        assert reactions(both.ts) == {}
        assert reactions(marked.ts) == {"merged": (CAPTAIN,)}
        assert not [entry for entry in await made.entries(head.run) if isinstance(entry, LlmRequest)]


async def test_new_channel_is_joined_and_welcomed_once(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        channel = await shipped_workflows.create_a_channel(made)
        # The creator invites Gofer at once.
        await made.slack.join(BOT, channel.id, CAPTAIN)
        await ended(made, "welcome-channel", 2)
        (welcome,) = made.slack.workspace.timeline(channel.id)
        assert welcome.user == BOT
        assert "until somebody mentions me" in welcome.text
        other = await made.slack.create_channel(CAPTAIN, "lunch")
        await made.slack.join(BOT, other.id, CAPTAIN)
        await made.slack.join(SUPPORT, other.id)
        await ended(made, "welcome-channel", 3)
        (welcome,) = made.slack.workspace.timeline(other.id)
        assert welcome.user == BOT
        unknown = await made.slack.create_channel(CAPTAIN, "breakfast")
        alone = await made.slack.create_channel(CAPTAIN, "team-alone")
        await ended(made, "welcome-channel", 4)
        assert BOT not in made.slack.workspace.channel(unknown.id).members
        assert [message.user for message in made.slack.workspace.timeline(alone.id)] == [BOT]


async def test_single_reviewer_needs_no_subagent_and_one_chooses_among_several(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        people = github(made).people
        few = people.open_pull("acme/shop", "new-colleague", "Retry less", {"src/checkout/retry.py": "x = 1\n"})
        (head,) = await ended(made, "assign-reviewers")
        assert pull(made, few.number)["reviewers"] == ["checkout-owner"]
        assert not [one for one in await made.entries(head.run) if isinstance(one, SubagentFinished)]
        await shipped_workflows.open_a_pull_request(made)
        (_, head) = await ended(made, "assign-reviewers", 2)
        assert pull(made, few.number + 1)["reviewers"] == ["checkout-owner", "on-call"]
        (chosen,) = [one for one in await made.entries(head.run) if isinstance(one, SubagentFinished)]
        assert chosen.status == "ok"


async def test_draft_and_pull_request_with_reviewers_get_no_further_reviewers(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        people, changes = github(made).people, {"src/checkout/address.py": "x = 1\n"}
        draft = people.open_pull("acme/shop", "new-colleague", "Not yet", changes, draft=True)
        await ended(made, "assign-reviewers")
        asked = people.open_pull("acme/shop", "new-colleague", "Ready", changes, head="other")
        people.request_reviews(asked, "new-colleague", ["release-captain"], [])
        await ended(made, "assign-reviewers", 2)
        assert pull(made, draft.number)["reviewers"] == []
        assert pull(made, asked.number)["reviewers"] == ["release-captain"]
        assert pull(made, draft.number)["comments"] == []
        people.ready(draft, "new-colleague")
        await ended(made, "assign-reviewers", 3)
        assert len(pull(made, draft.number)["reviewers"]) == 2


async def test_direct_message_is_answered_there_and_the_run_is_private(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await shipped_workflows.ask_directly(made)
        (head,) = await ended(made, "answer-here")
        (answer,) = made.answers(asked)
        assert "address form in checkout" in answer.text
        assert (head.status, head.private) == ("done", True)
        assert ONCALL not in made.slack.workspace.channel(asked.channel).members


async def test_edited_prompt_is_used_and_linked_by_the_next_run(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    for room in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / room, root / room)
    told, shown = [], []
    for words in ("", "\nEnd with the word cucumber.\n"):
        with (root / "agents" / "answer-here.md").open("a") as prompt:
            prompt.write(words)
        model = Echo()
        async with company(tmp_path, root=root, model=model) as made:
            asked = await shipped_workflows.ask_about_the_decision(made)
            await ended(made, "answer-here", len(told) + 1)
            (answer,) = made.answers(asked)
            told.append(b"cucumber" in model.bodies[0])
            shown.append("cucumber" in (await made.http.get(links(answer)["answer-here prompt"])).text)
    assert told == shown == [False, True]


async def test_rfc_that_becomes_ready_gets_comments_on_weak_points(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        await shipped_workflows.set_rfc_ready(made)
        (head,) = await ended(made, "review-rfc")
        state: Any = shipped_workflows.notion(made).state()
        texts = [comment["text"] for comment in state[shipped_workflows.RFC]["comments"]]
        assert (head.status, len(texts)) == ("done", 3)
        assert [text for text in texts if "made of the time at which the job began" in text]
        assert [text for text in texts if "Not yet: the key does not survive" in text]
