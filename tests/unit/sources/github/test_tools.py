"""GitHub tools against the simulated GitHub: reading, writing once, and refusals."""

import logging
from dataclasses import replace

import pytest

from gofer.sources.github.api import GitHubApi, GitHubRefusal
from gofer.sources.github.get_issue import GetIssue, github_get_issue
from gofer.sources.github.get_pull_request import GetPullRequest, github_get_pull_request
from gofer.sources.github.list_commits import ListCommits, github_list_commits
from gofer.sources.github.read_file import ReadFile, github_read_file
from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.github.write import (
    AddComment,
    CreateIssue,
    RequestReviewers,
    github_add_comment,
    github_create_issue,
    github_request_reviewers,
)
from gofer.sources.receiver import Ignored, RawRequest
from gofer.tools.definition import Call
from gofer.tools.readable import Readable
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.secret import Secret
from gofer_simulators.faults import Fault
from gofer_simulators.github.simulator import GitHubSimulator
from support.stand_ins import NOON
from support.tools.calls import started
from support.tools.declared_tools import look_for
from support.vendors.github import API as URL
from support.vendors.github import PLACE, SECRET, TOKEN, play

API = GitHubApi(URL, Secret(TOKEN))
LINKS = "[answer-here prompt](http://localhost/prompts/answer-here) · [run run1](http://localhost/runs/run1)"


def seen(github: GitHubSimulator, kind: str, number: int) -> dict:
    return github.state()["repositories"]["acme/app"][kind][str(number)]


@pytest.mark.parametrize(
    ("readable", "read"),
    [
        (Readable(), False),
        (Readable(outsiders=True), False),
        (Readable(frozenset({"acme/app"}), outsiders=True), True),
        (Readable(frozenset({"acme"})), True),
        (Readable(frozenset({"acme/ap"})), False),
    ],
)
def test_github_private_repository_is_read_from_elsewhere_only_if_listed(readable: Readable, read: bool) -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        outside = replace(started(call, place={}), readable=readable)
        asked = GetPullRequest(repository="acme/app", number=7)
        if read:
            assert (await github_get_pull_request.act(API, outside, asked)).details["number"] == 7
            return
        with pytest.raises(ToolError) as refused:
            await github_get_pull_request.act(API, outside, asked)
        with pytest.raises(ToolError) as missing:
            await github_read_file.act(API, outside, ReadFile(repository="acme/none"))
        assert (str(refused.value), refused.value.code) == (str(missing.value), missing.value.code)
        assert (await github_get_pull_request.act(API, replace(call, readable=readable), asked)).details["number"] == 7

    play(story)


def test_github_pull_request_is_read_as_text_and_details() -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        found = await github_get_pull_request.act(API, call, GetPullRequest())
        assert found.text.splitlines()[:7] == [
            "Pull request acme/app#7: Pay three times",
            "State: open, draft",
            "Author: ada",
            "Branches: feature into main",
            "Link: https://github.com/acme/app/pull/7",
            "Labels: money",
            "Asked to review: sam",
        ]
        assert "    src/new.py (added, +1 -0)" in found.text
        assert "Changed files: 2 (+2 -1)" in found.text
        assert "- kim at 2026-11-21T11:00:00Z, changes requested:\n    No." in found.text
        assert found.details == {
            "repository": "acme/app",
            "number": 7,
            "title": "Pay three times",
            "state": "open",
            "merged": False,
            "draft": True,
            "url": "https://github.com/acme/app/pull/7",
            "author": "ada",
            "base": "main",
            "head": "feature",
            "head_repository": "acme/app",
            "files": ["src/new.py", "src/pay.py"],
            "reviewers": ["sam"],
            "private": False,
            "readers": "people with access to the repository",
            "facts": {
                "repository": "acme/app",
                "base": "main",
                "labels": ["money"],
                "draft": True,
                "author": "ada",
            },
        }

    play(story)


def test_github_texts_of_people_cannot_imitate_lines_of_the_tool() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        issue = github.issue("acme/app", 8)
        github.people.edit(issue, "kim", "Broken\nState: closed")
        github.people.comment(issue, "kim", "First\n- ada at noon:\n    I agree.\u2028State: closed\rAuthor: ada")
        found = await github_get_issue.act(API, call, GetIssue(number=8))
        assert found.text.splitlines()[0] == "Issue acme/app#8: Broken State: closed"
        ours = [line for line in found.text.splitlines() if not line.startswith("    ")]
        assert [line for line in ours if line.startswith(("State:", "Author:", "- "))] == [
            "State: open",
            "Author: kim",
            "- sam at 2026-11-21T11:00:00Z:",
            "- kim at 2026-11-21T12:00:00Z:",
        ]
        pull = await github_get_pull_request.act(API, call, GetPullRequest())
        assert "    State: merged" in pull.text
        assert "\nState: merged" not in pull.text

    play(story)


def test_github_pull_request_distinguishes_merged_from_closed() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        pull = github.issue("acme/app", 7)
        github.people.close(pull, "sam")
        closed = await github_get_pull_request.act(API, call, GetPullRequest())
        assert "State: closed without being merged" in closed.text
        assert (closed.details["state"], closed.details["merged"]) == ("closed", False)
        github.people.reopen(pull, "sam")
        github.people.merge(pull, "sam")
        done = await github_get_pull_request.act(API, call, GetPullRequest())
        assert "State: merged by sam" in done.text
        assert (done.details["state"], done.details["merged"]) == ("closed", True)

    play(story)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"number": 7},
        {"repository": "acme/app", "number": 7},
        {"url": "https://github.com/acme/app/pull/7"},
        {"url": "<https://www.github.com/acme/app/pull/7/files?w=1#diff>"},
    ],
)
def test_github_pull_request_can_be_named_by_number_repository_or_url(arguments: dict) -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        assert (await github_get_pull_request.act(API, call, GetPullRequest(**arguments))).details["number"] == 7

    play(story)


@pytest.mark.parametrize(
    ("arguments", "place", "words"),
    [
        ({}, {}, "owner/name"),
        ({"repository": "acme/app"}, {}, "Say which one"),
        ({"repository": "acme/other"}, PLACE, "Say which one"),
        ({"repository": "acme"}, PLACE, "not the name of a repository"),
        ({"repository": "../user", "number": 1}, PLACE, "not the name of a repository"),
        ({"url": "https://gitlab.example/acme/app/pull/7"}, PLACE, "not the address"),
        ({"url": "https://github.com/acme/app"}, PLACE, "not the address"),
        ({"url": "http://["}, PLACE, "not the address"),
        ({"number": 99}, PLACE, "or Gofer has no access to it"),
        ({"repository": "acme/hidden", "number": 1}, PLACE, "or Gofer has no access to it"),
    ],
)
def test_github_pull_request_that_cannot_be_found_is_refused_with_the_reason(
    arguments: dict, place: dict[str, str], words: str
) -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        with pytest.raises(ToolError, match=words):
            await github_get_pull_request.act(API, call, GetPullRequest(**arguments))

    play(story, place=place)


def test_github_web_host_follows_the_api_url() -> None:
    assert GitHubApi("https://git.acme.example/api/v3", Secret("x")).web_host == "git.acme.example"
    assert API.web_host == "github.com"


def test_github_read_file_reads_files_branches_and_folders_and_refuses_large_files() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        file = await github_read_file.act(API, call, ReadFile(path="/src/pay.py"))
        assert file.text.partition("\n\n")[2] == "def pay():\n    return 2\n"
        branch = await github_read_file.act(API, call, ReadFile(path="src/pay.py", ref="feature"))
        assert branch.text.endswith("return 3\n")
        folder = await github_read_file.act(API, call, ReadFile())
        assert folder.text.splitlines() == [
            "Folder acme/app/, 3 entries:",
            "    README.md (file)",
            "    src (dir)",
            "    vendor (file)",
        ]
        github.people.push("acme/app", "sam", "Large", {"large.txt": "x" * 1_000_001})
        for path, words in [("large.txt", "1 MB"), ("none", "no access"), ("../x", "from the top")]:
            with pytest.raises(ToolError, match=words):
                await github_read_file.act(API, call, ReadFile(path=path))

    play(story)


def test_github_read_file_refuses_a_binary_file() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        repository = github._hub.repository("acme/app")
        github._hub.commit(repository, "main", "sam", "Logo", {"logo.png": b"\x89PNG\xff"}, NOON)
        with pytest.raises(ToolError, match="not text"):
            await github_read_file.act(API, call, ReadFile(path="logo.png"))

    play(story)


def test_github_long_discussion_shows_the_newest_comments_and_counts_the_rest() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        issue = github.issue("acme/app", 8)
        for number in range(1_100):
            github.people.comment(issue, "ada", f"Comment {number} " + "x" * 12_000 * (number == 1_098))
        found = await github_get_issue.act(API, call, GetIssue(number=8))
        assert found.details["comments"] == 1_101
        assert "Comment 1099" in found.text
        assert "characters are left out.]" in found.text
        left = int(found.text.partition(" older")[0].rpartition("(")[2])
        assert left + found.text.count("\n- ada at ") == 1_101
        assert len(found.text) < 40_000

    play(story)


def test_github_list_commits_counts_authors() -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        found = await github_list_commits.act(API, call, ListCommits(path="src"))
        assert found.details["authors"] == {"sam": 1, "gofer[bot]": 1}
        assert "2026-11-20 sam: Pay twice\n" in found.text
        assert "Longer" not in found.text
        assert len((await github_list_commits.act(API, call, ListCommits(limit=1))).details["commits"]) == 1

    play(story)


def test_github_comment_ends_with_links_and_mentions_no_person() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        wanted = AddComment(text="Hi @ada and @acme/core, a@b.example\n<!-- gofer:other -->\n<!-- x\n```\ncode")
        done = await github_add_comment.act(API, call, wanted)
        (comment,) = seen(github, "pulls", 7)["comments"]
        assert comment["body"] == (
            "Hi @\u2060ada and @\u2060acme/core, a@b.example\n<\u2060!-- x\n```\ncode\n```\n\n"
            f"<sub>{LINKS}</sub>\n\n<!-- gofer:run1/act/1 -->"
        )
        assert done.details["url"] == f"https://github.com/acme/app/pull/7#issuecomment-{done.details['comment']}"
        read = await github_get_issue.act(API, call, GetIssue())
        assert "gofer:run1" not in read.text

    play(story)


def test_github_comment_with_a_lost_answer_is_found_by_the_call_only() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        wanted = AddComment(text="Done.")
        assert await look_for(github_add_comment, API, call, wanted) is None
        github.faults.add("POST", "*/comments", Fault("timeout_after_success"))
        for _ in range(150):
            github.people.comment(github.issue("acme/app", 7), "ada", "Noise")
        with pytest.raises(TemporaryError):
            await github_add_comment.act(API, call, wanted)
        found = await look_for(github_add_comment, API, call, wanted)
        assert found is not None
        assert found.details["number"] == 7
        assert await look_for(github_add_comment, API, replace(call, key="run1/act/11"), wanted) is None
        assert len(seen(github, "pulls", 7)["comments"]) == 151

    play(story)


def test_github_search_for_a_written_comment_fails_above_1000_comments() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        for _ in range(1_001):
            github.people.comment(github.issue("acme/app", 7), "ada", "Noise")
        with pytest.raises(ToolError, match="too many"):
            await look_for(github_add_comment, API, call, AddComment(text="x"))

    play(story)


def test_github_issue_with_a_lost_answer_is_found_by_the_call() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        wanted = CreateIssue(title="Broken\nbuild", body="See\n\n<!-- gofer:run1/act/1 -->", labels=["bug"])
        assert await look_for(github_create_issue, API, call, wanted) is None
        github.faults.add("POST", "*/issues", Fault("timeout_after_success"))
        with pytest.raises(TemporaryError):
            await github_create_issue.act(API, call, wanted)
        found = await look_for(github_create_issue, API, call, wanted)
        assert found is not None
        assert found.details == {"repository": "acme/app", "number": 9, "url": "https://github.com/acme/app/issues/9"}
        issue = seen(github, "issues", 9)
        assert (issue["title"], issue["labels"]) == ("Broken build", ["bug"])
        assert issue["body"] == f"See\n\n<sub>{LINKS}</sub>\n\n<!-- gofer:run1/act/1 -->"

    play(story)


def test_github_review_request_repeated_has_the_same_result() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        github.people.open_pull("acme/app", "kim", "Other", {"a": "b"}, head="other")
        wanted = RequestReviewers(number=9, reviewers=["@Ada", "acme/core"])
        first = await github_request_reviewers.act(API, call, wanted)
        assert await github_request_reviewers.act(API, call, wanted) == first
        assert first.details["reviewers"] == ["ada"]
        assert first.text == "Asked. Now asked to review acme/app#9: ada, the team core."
        assert (seen(github, "pulls", 9)["reviewers"], seen(github, "pulls", 9)["teams"]) == (["ada"], ["core"])
        for reviewer, words in [
            ("kim", "pull request author"),
            ("renovate[bot]", "not a login"),
            ("eve", "collaborator"),
        ]:
            with pytest.raises(ToolError, match=words):
                await github_request_reviewers.act(API, call, RequestReviewers(number=9, reviewers=[reviewer]))

    play(story)


def test_github_writes_without_a_named_place_go_to_the_place_of_the_run() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        await github_add_comment.act(API, call, AddComment(text="agreed"))
        await github_create_issue.act(API, call, CreateIssue(title="agreed"))
        await github_request_reviewers.act(API, call, RequestReviewers(reviewers=["acme/core"]))
        pull, issue = seen(github, "pulls", 7), seen(github, "issues", 9)
        (comment,) = pull["comments"]
        assert (comment["user"], comment["body"].splitlines()[0]) == ("gofer[bot]", "agreed")
        assert (issue["title"], issue["user"]) == ("agreed", "gofer[bot]")
        assert (pull["reviewers"], pull["teams"]) == (["sam"], ["core"])

    play(story)


@pytest.mark.parametrize("text", ["  ", "x" * 65_536])
def test_github_empty_or_too_long_comment_is_refused_unsent(text: str) -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        with pytest.raises(ToolError, match=r"empty|longer"):
            await github_add_comment.act(API, call, AddComment(text=text))
        assert seen(github, "pulls", 7)["comments"] == []

    play(story)


def test_github_deliveries_about_texts_of_gofer_are_ignored() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        await github_add_comment.act(API, call, AddComment(text="Done."))
        await github_create_issue.act(API, call, CreateIssue(title="New", labels=["bug"]))
        receiver = GitHubReceiver((Secret(SECRET),))
        for delivery in github.deliveries:
            headers = (("X-GitHub-Event", delivery.event),)
            verdict = receiver.translate(RawRequest("POST", "/github/webhook", headers, delivery.body))
            assert isinstance(verdict, Ignored)
            assert verdict.reason == "Gofer wrote it"
        assert [delivery.event for delivery in github.deliveries] == ["issue_comment", "issues", "issues"]

    async def subscribed(github: GitHubSimulator, call: Call) -> None:
        github.subscribe("http://127.0.0.1:1/github/webhook")
        await github.settled()
        github._deliveries.sent.clear()
        await story(github, call)
        await github.settled()

    play(subscribed)


@pytest.mark.parametrize(
    ("fault", "raised", "words", "logged"),
    [
        (Fault("expired_token"), GitHubRefusal, "renew GITHUB_TOKEN", 1),
        (Fault("status", 403), GitHubRefusal, "Wait a few minutes", 0),
        (Fault("status", 429, {"Retry-After": "60"}), GitHubRefusal, "Wait 60 seconds", 0),
        (Fault("status", 410), GitHubRefusal, "deleted, or switched off", 0),
        (Fault("status", 418), GitHubRefusal, "HTTP 418", 0),
        (Fault("status", 500), TemporaryError, "HTTP 500", 0),
        (Fault("timeout"), TemporaryError, "no answer", 0),
    ],
)
def test_github_failure_is_reported_to_the_model_and_a_bad_token_is_logged(
    fault: Fault, raised: type[Exception], words: str, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        github.faults.add("POST", "*", fault)
        with pytest.raises(raised, match=words):
            await github_add_comment.act(API, call, AddComment(text="private words"))
        assert seen(github, "pulls", 7)["comments"] == []
        errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert len(errors) == logged
        assert not any("private words" in error or "acme" in error for error in errors)

    play(story)


def test_github_without_a_token_sends_no_request() -> None:
    async def story(_: GitHubSimulator, call: Call) -> None:
        with pytest.raises(ToolError, match="set GITHUB_TOKEN"):
            await github_get_issue.act(GitHubApi(URL, Secret("")), call, GetIssue())
        assert call.http.sent == []

    play(story)


def test_github_pull_request_of_a_fork_names_the_owner_and_a_readable_ref() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        changes = {"src/pay.py": "def pay():\n    return 9\n"}
        pull = github.people.open_pull("acme/app", "kim", "Pay nine", changes, head="main", fork="kim/app")
        arguments = GetPullRequest(number=pull.number)
        found = await github_get_pull_request.act(API, call, arguments)
        assert "\nBranches: kim:main into main. The change is in the fork kim/app.\n" in found.text
        ref = f"refs/pull/{pull.number}/head"
        assert f"github_read_file with the ref {ref}\n" in found.text
        changed = await github_read_file.act(API, call, ReadFile(path="src/pay.py", ref=ref))
        assert changed.text.endswith("return 9\n")
        base = await github_read_file.act(API, call, ReadFile(path="src/pay.py", ref="main"))
        assert base.text.endswith("return 2\n")
        assert pull.pull is not None
        pull.pull.fork = None
        found = await github_get_pull_request.act(API, call, arguments)
        assert "\nBranches: main into main. The change is in a fork that was deleted.\n" in found.text
        assert f"github_read_file with the ref {ref}\n" in found.text

    play(story)


def test_github_pull_request_read_as_an_issue_has_branches_and_comments() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        pull = github.issue("acme/app", 7)
        github.people.comment(pull, "sam", "What changed?")
        began = github.people.comment_on_line(pull, "kim", "Why three?", path="src/pay.py", line=2)
        reply = github.people.comment_on_line(pull, "sam", "As asked.", reply_to=began.id)
        began.line = None
        found = await github_get_issue.act(API, call, GetIssue())
        where = "src/pay.py, line 1 (outdated: these lines changed since)"
        thread = f"(review comment {reply.id}, in reply to review comment {began.id})"
        assert f"- kim at 2026-11-21T12:00:00Z on {where} (review comment {began.id}):\n    Why three?" in found.text
        assert f"- sam at 2026-11-21T12:00:00Z on src/pay.py, line 2 {thread}:\n    As asked." in found.text
        assert "\nBranches: feature into main\n" in found.text
        assert "    src/new.py (added, +1 -0)" in found.text
        assert found.text.endswith("Comments, oldest first:\n- sam at 2026-11-21T12:00:00Z:\n    What changed?")
        assert found.details["facts"] == {
            "repository": "acme/app",
            "base": "main",
            "labels": ["money"],
            "draft": True,
            "author": "ada",
        }

    play(story)


@pytest.mark.parametrize("part", ["files", "reviews", "comments"])
def test_refused_part_of_a_pull_request_leaves_the_other_parts(part: str) -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        github.people.comment_on_line(github.issue("acme/app", 7), "kim", "Why three?", path="src/pay.py", line=2)
        github.faults.add("GET", f"/repos/acme/app/pulls/7/{part}", Fault("status", 404))
        found = await github_get_pull_request.act(API, call, GetPullRequest())
        assert "could not be read. GitHub refused it (not_found)." in found.text
        assert ("src/new.py" in found.text, "    No." in found.text, "Why three?" in found.text) == (
            part != "files",
            part != "reviews",
            part != "comments",
        )

    play(story)


def test_github_reply_stays_in_the_review_thread_and_is_found_again() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        pull = github.issue("acme/app", 7)
        assert pull.pull is not None
        began = github.people.comment_on_line(pull, "kim", "Why three?", path="src/pay.py", line=2)
        arguments = AddComment(text="As asked.", review_comment=began.id)
        assert await look_for(github_add_comment, API, call, arguments) is None
        written = await github_add_comment.act(API, call, arguments)
        answer = pull.pull.comments[-1]
        assert (answer.in_reply_to, answer.user) == (began.id, "gofer[bot]")
        assert written.details["comment"] == answer.id
        found = await look_for(github_add_comment, API, call, arguments)
        assert found is not None
        assert found.details == written.details
        assert pull.comments == []

    play(story)


def test_github_reply_in_a_deleted_review_thread_is_a_comment_with_a_link() -> None:
    async def story(github: GitHubSimulator, call: Call) -> None:
        pull = github.issue("acme/app", 7)
        await github_add_comment.act(API, call, AddComment(text="As asked.", review_comment=99))
        (comment,) = pull.comments
        assert comment.body.startswith("About https://github.com/acme/app/pull/7#discussion_r99, where no reply is")
        assert "\n\nAs asked.\n\n" in comment.body

    play(story)
