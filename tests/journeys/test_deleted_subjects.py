"""Events whose issue, page or comment is deleted while they wait: their runs end silently."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gofer.journal.unlisted_ends import recent
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from support.app.company import Company
from support.app.one_workflow import Echo, gofer

pytestmark = pytest.mark.anyio

PAGE = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
UNLISTED = "1 run could not begin: Jira refused a call that was needed; the log has its code."
DELETED = "the comment, issue, page or pull request that it is about was deleted"


def jira(made: Company) -> JiraSimulator:
    found = made.embedded.simulated.system(JiraSimulator)
    assert found is not None
    return found


async def jira_issue(made: Company) -> None:
    issue = jira(made).site.issue("PAY-17")
    jira(made).people.comment("712020:support", issue, "may this go out?")
    jira(made).people.delete(jira(made).site.issue("PAY-17"))
    await jira(made).settled()


async def jira_comment(made: Company) -> None:
    comment = jira(made).people.comment("712020:support", jira(made).site.issue("PAY-17"), "may this go out?")
    jira(made).people.delete(jira(made).site.issue("PAY-17"), comment.id)
    await jira(made).settled()


async def notion_page(made: Company) -> None:
    notion = made.embedded.simulated.system(NotionSimulator)
    assert notion is not None
    notion.people.comment(PAGE, "what about this?", by="Checkout Owner")
    notion.people.trash(PAGE, by="Checkout Owner")
    await notion.settled()


async def notion_comment(made: Company) -> None:
    notion = made.embedded.simulated.system(NotionSimulator)
    assert notion is not None
    comment = notion.people.comment(PAGE, "what about this?", by="Checkout Owner")
    notion.people.delete_comment(comment.id)
    await notion.settled()


async def github_issue(made: Company) -> None:
    github = made.embedded.simulated.system(GitHubSimulator)
    assert github is not None
    github.people.delete(github.people.open_issue("acme/shop", "checkout-owner", "It breaks"))
    await github.settled()


@pytest.mark.parametrize(
    ("when", "happens", "reason", "unlisted"),
    [
        # Jira does not say whether the issue is gone or hidden from Gofer, and no list shows a run whose readers are
        # unknown. The operator sees a count.
        ("jira.commented", jira_issue, "", [UNLISTED]),
        ("jira.commented", jira_comment, DELETED, []),
        ("notion.commented", notion_page, DELETED, []),
        ("notion.commented", notion_comment, DELETED, []),
        ("github.issue", github_issue, DELETED, []),
    ],
)
async def test_run_of_a_deleted_subject_ends_silently_and_the_operator_sees_the_reason(
    tmp_path: Path, when: str, happens: Callable[[Company], Awaitable[None]], reason: str, unlisted: list[str]
) -> None:
    model = Echo()
    async with gofer(tmp_path, f"when: [{when}]", model) as made:
        await happens(made)
        (head,) = await made.ended()
        systems = [made.embedded.simulated.system(one) for one in (JiraSimulator, NotionSimulator, GitHubSimulator)]
        ends = await recent(made.embedded.state.store, int(time.time() * 1000))
        said = str([one.state() for one in systems if one is not None])
    assert head.status == "ignored"
    assert head.reason == reason
    assert [one.sentence() for one in ends] == unlisted
    assert model.bodies == []
    assert "could not read" not in said
