"""Requests and answers in Jira, Notion and GitHub."""

import copy
import json
import re
from pathlib import Path

import pytest

from gofer.engine.first_message import DATA_NOTE
from gofer.models.language_model import Answer
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.people import NewIssue
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from support.app.one_workflow import Echo, gofer, world
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio


class Talks(Echo):
    """A model with a long answer."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.bodies.append(body)
        return says("It began so. " + "word " * 12_000)


async def test_jira_answer_too_long_for_a_comment_is_cut_with_a_note(tmp_path: Path) -> None:
    model = Talks()
    async with gofer(tmp_path, "when: [jira.commented]", model) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        issue = jira.site.find("PAY-17")
        assert issue is not None
        jira.people.comment("712020:support", issue, "may this go out?")
        await jira.settled()
        heads = await made.ended()
        said = str(jira.state()["PAY-17"])
    assert [head.status for head in heads] == ["done"]
    assert len(model.bodies) == 1
    assert "It began so. word" in said
    assert "This is the beginning; the rest is too long for a comment." in said


async def jira_asked(folder: Path, text: str, visibility: str = "") -> str:
    """Return the first message of a run that a comment in Jira began."""
    model = Echo()
    async with gofer(folder, 'when: [{jira.commented: {says: "*may*"}}]', model) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        issue = jira.site.find("PAY-17")
        assert issue is not None
        jira.people.comment("712020:support", issue, text, visibility=visibility)
        await jira.settled()
        await made.ended()
    return str(json.loads(model.bodies[0])["messages"][1]["content"])


async def test_jira_comment_without_a_request_is_introduced_by_author_and_time(tmp_path: Path) -> None:
    asked = await jira_asked(tmp_path, "may this go out?")
    assert re.search(r'this Jira issue\. The comment is by "Support Lead" at 20', asked)


async def test_long_jira_request_reaches_the_model_whole(tmp_path: Path) -> None:
    asked = await jira_asked(tmp_path, f"@gofer may this go out? {'word ' * 1500}THE END: WHICH ONE?")
    request = asked.partition(DATA_NOTE)[0]
    assert request.rstrip().endswith("THE END: WHICH ONE?")
    assert "The comment is by" not in request
    assert asked.count("THE END") == 1


async def test_long_jira_request_is_marked_as_cut_when_the_comment_cannot_be_reread(tmp_path: Path) -> None:
    asked = await jira_asked(tmp_path, f"@gofer may this go out? {'word ' * 1500}THE END", "Administrators")
    assert "> [The text is cut here. The comment could not be read again, so ask its author for the rest.]" in asked


@pytest.mark.parametrize(("who", "status"), [("", "done"), ("who: members", "ignored"), ("who: anonymous", "done")])
async def test_jira_issue_of_a_form_starts_a_workflow_open_to_anonymous(tmp_path: Path, who: str, status: str) -> None:
    model = Echo()
    async with gofer(tmp_path, f"when: [jira.issue_created]\n{who}", model) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        jira.people.create("", NewIssue("PAY", "Task", "From the form"))
        await jira.settled()
        (head,) = await made.ended()
    assert head.status == status
    assert len(model.bodies) == (status == "done")
    if status == "done":
        asked = str(json.loads(model.bodies[0])["messages"][1]["content"])
        assert "Someone whom Jira does not name created this Jira issue." in asked
        assert "No person made a request" in asked
    else:
        assert head.reason == "an event without a person started it; the workflow is for people with an account of Jira"


async def test_jira_comment_delivered_as_a_document_meets_the_condition_on_its_words(tmp_path: Path) -> None:
    model = Echo()
    async with gofer(tmp_path, 'when: [{jira.commented: {says: "*@gofer*go out*"}}]', model) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        jira.site.sends_documents = True
        jira.people.comment("712020:support", jira.site.issue("PAY-17"), "@gofer may this go out?")
        await jira.settled()
        await made.ended()
    assert "> @gofer may this go out?" in str(json.loads(model.bodies[0])["messages"][1]["content"])


async def test_own_jira_comment_starts_no_run_when_the_account_is_a_person(tmp_path: Path) -> None:
    made_world = copy.deepcopy(dict(world()))
    for user in made_world["jira"]["users"]:
        user.pop("app", None)
    model = Echo()
    async with gofer(tmp_path, "when: [jira.commented]", model, made_world) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        issue = jira.site.find("PAY-17")
        assert issue is not None
        jira.people.comment("712020:support", issue, "may this go out?")
        for _ in range(5):
            await jira.settled()
            await made.ended()
    assert len(model.bodies) == 1


@pytest.mark.parametrize("on_block", [False, True])
async def test_notion_comment_on_a_page_or_block_is_answered_in_its_discussion(tmp_path: Path, on_block: bool) -> None:
    model = Echo()
    async with gofer(tmp_path, "when: [notion.commented]", model) as made:
        notion = made.embedded.simulated.system(NotionSimulator)
        assert notion is not None
        page, block = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012", "5f1c7d2e-0a3b-4c4d-8e9f-0000000000b1"
        question = notion.people.comment(page, "what about this?", by="Checkout Owner", block=block if on_block else "")
        await notion.settled()
        (head,) = await made.ended()
        replies = [
            one.texts[0]["plain_text"]
            for one in notion.workspace.comments.values()
            if one.discussion == question.discussion
        ]
    assert (head.status, head.reason) == ("done", "")
    assert replies == ["what about this?", "Here you are."]
    read = str(json.loads(model.bodies[0])["messages"][1]["content"])
    assert 'The comment is by "Checkout Owner" at 20' in read
    assert "Your answer is a reply in the discussion." in read
    assert f"(comment {question.id}, which started this run):" in read


async def test_edited_and_deleted_github_comment_is_answered_once(tmp_path: Path) -> None:
    model = Echo()
    async with gofer(tmp_path, 'when:\n  - github.comment: {says: "*@gofer*"}', model) as made:
        github = made.embedded.simulated.system(GitHubSimulator)
        assert github is not None
        issue = github.issue("acme/shop", 41)
        comment = github.people.comment(issue, "checkout-owner", "@gofer what is it?")
        await github.settled()
        github.people.edit_comment(issue, "checkout-owner", comment, "@gofer what is this?")
        github.people.delete_comment(issue, "checkout-owner", comment)
        await github.settled()
        (head,) = await made.ended()
        (answer,) = issue.comments
    assert (head.status, len(model.bodies)) == ("done", 1)
    assert answer.body.startswith("Here you are.")
    # The comment stands on a pull request, so the model reads its branches and files.
    assert "On GitHub, comment on a pull request: created." in model.bodies[0].decode()
    assert "Branches: " in model.bodies[0].decode()


async def test_github_review_comment_is_read_with_the_line_and_answered_in_the_thread(tmp_path: Path) -> None:
    model = Echo()
    async with gofer(tmp_path, 'when:\n  - github.comment: {says: "*@gofer*"}', model) as made:
        github = made.embedded.simulated.system(GitHubSimulator)
        assert github is not None
        issue = github.issue("acme/shop", 41)
        assert issue.pull is not None
        path = next(iter(issue.pull.changes))
        began = github.people.comment_on_line(issue, "checkout-owner", "@gofer is it safe?", path=path, line=1)
        await github.settled()
        (head,) = await made.ended()
        (_, answer) = issue.pull.comments
    assert (head.status, issue.comments) == ("done", [])
    assert (answer.in_reply_to, answer.body.startswith("Here you are.")) == (began.id, True)
    assert f"On {path}, line 1, in this piece of the diff:" in model.bodies[0].decode()
    assert "Your answer is a reply in its review thread." in model.bodies[0].decode()


async def test_github_event_of_a_deleted_account_starts_a_run(tmp_path: Path) -> None:
    model = Echo()
    async with gofer(tmp_path, "when:\n  - github.pull_request: {action: closed}\nreply: none", model) as made:
        github = made.embedded.simulated.system(GitHubSimulator)
        assert github is not None
        github.people.close(github.issue("acme/shop", 41), "")
        await github.settled()
        (head,) = await made.ended()
    assert head.status == "done"
    opening = model.bodies[0].decode()
    assert "On GitHub, pull request: closed, by an account that GitHub no longer names." in opening
    assert "Your answer" not in opening


async def test_github_push_run_is_done_without_an_answer(tmp_path: Path) -> None:
    async with gofer(tmp_path, "when: [github.push]") as made:
        github = made.embedded.simulated.system(GitHubSimulator)
        assert github is not None
        github.people.push("acme/shop", "checkout-owner", "mend it", {"a.txt": "a"})
        await github.settled()
        (head,) = await made.ended()
    assert (head.status, head.reason) == ("done", "")
