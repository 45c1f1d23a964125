"""Requests to GitHub: limits, refusals, renamed repositories, odd answers, and the marker that ends texts by Gofer."""

import asyncio
import html
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.get_issue import GetIssue, github_get_issue
from gofer.sources.github.get_pull_request import GetPullRequest, github_get_pull_request
from gofer.sources.github.list_commits import ListCommits, github_list_commits
from gofer.sources.github.provenance import JOINER, carries, marker, signed
from gofer.sources.github.read_file import ReadFile, github_read_file
from gofer.sources.github.tools import TOOLS as GITHUB_TOOLS
from gofer.sources.github.write import AddComment, CreateIssue, github_add_comment
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.engine.memory_run import PROVENANCE
from support.stand_ins import NOON
from support.tools.calls import any_call
from support.vendors.github import API as URL
from support.vendors.github import PLACE, TOKEN

API = GitHubApi(URL, Secret(TOKEN))


class Scripted:
    """A GitHub that gives prepared answers in order, and success after that."""

    def __init__(self, *answers: HttpResponse) -> None:
        self.answers = list(answers)
        self.urls: list[str] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.urls.append(request.url)
        return self.answers.pop(0) if self.answers else HttpResponse(201, {}, b'{"id":5,"html_url":"u"}')


def limited(status: int = 403, body: bytes = b"{}", **headers: str) -> HttpResponse:
    return HttpResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def commented(http: Scripted) -> tuple[str, list[float]]:
    """Return the answer to the model and the waits for GitHub in seconds."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    call = any_call(http, key="k", place=PLACE)
    api = GitHubApi(URL, Secret(TOKEN), pause)
    try:
        return asyncio.run(github_add_comment.act(api, call, AddComment(text="x"))).text, waited
    except (ToolError, TemporaryError) as error:
        return str(error), waited


@pytest.mark.parametrize(
    ("answers", "waits", "words"),
    [
        ([limited(retry_after="2")], [2], "Commented"),
        ([limited(429, retry_after="0")] * 3, [1, 1, 1], "Commented"),
        ([limited(x_ratelimit_remaining="0", x_ratelimit_reset=f"{NOON + 5:.0f}")], [5], "Commented"),
        ([limited(retry_after="9")] * 3, [9], "Wait 9 seconds"),
        ([limited(retry_after="soon")], [], "Wait a few minutes"),
        ([limited(x_ratelimit_remaining="0", x_ratelimit_reset=f"{NOON + 900:.0f}")], [], "Wait 900 seconds"),
        ([limited(body=b'{"message":"You have exceeded a secondary rate limit"}')], [], "Wait a few minutes"),
        ([limited(body=b'{"message":"Repository was archived"}')], [], "GitHub says: Repository was archived"),
        (
            [limited(body=b'{"message":"Resource not accessible by x"}', x_accepted_github_permissions="issues=write")],
            [],
            "GitHub requires issues=write.",
        ),
        ([limited(422, b'{"message":"Bad","errors":[{"field":"f","code":"c"},"e",5]}')], [], "GitHub says: Bad f c e"),
        ([limited(403, b"<html>")], [], "(forbidden)"),
        ([limited(201, b"<html>")], [], "did not answer in JSON"),
        ([limited(201, b"[]")], [], "did not confirm what it wrote"),
    ],
)
def test_github_waits_for_short_limits_and_reports_refusals(
    answers: list[HttpResponse], waits: list[float], words: str
) -> None:
    text, waited = commented(Scripted(*answers))
    assert words in text
    assert waited == waits


def test_github_follows_a_renamed_repository_and_sends_the_token_nowhere_else() -> None:
    http = Scripted(limited(307, location=f"{URL}/repositories/5/issues/7/comments"))
    assert commented(http)[0].startswith("Commented")
    assert http.urls[1] == f"{URL}/repositories/5/issues/7/comments"
    for location in ("https://evil.example/", f"{URL}.evil.example/", ""):
        elsewhere = Scripted(limited(307, location=location))
        assert "not its own" in commented(elsewhere)[0]
        assert len(elsewhere.urls) == 1
    assert "redirected Gofer too often" in commented(Scripted(*[limited(301, location=f"{URL}/x")] * 9))[0]


def answered(*bodies: object) -> Call:
    """Return a call to a GitHub that gives these answers in order."""
    http = Scripted(*(HttpResponse(200, {}, json.dumps(body).encode()) for body in bodies))
    return any_call(http, key="k", place=PLACE)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
FIELDS = ("title", "body", "user", "state", "labels", "merged", "head", "base", "comments", "author", "type", "content")


@given(
    st.sampled_from(
        [
            (github_get_issue.act, GetIssue()),
            (github_get_pull_request.act, GetPullRequest()),
            (github_read_file.act, ReadFile()),
        ]
    )
    | st.just((github_list_commits.act, ListCommits())),
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING) | st.lists(ANYTHING, max_size=3) | ANYTHING,
    st.lists(st.dictionaries(st.sampled_from([*FIELDS, "filename", "commit"]), ANYTHING), max_size=3),
)
def test_github_read_tools_turn_any_answer_into_text_or_a_tool_error(reading, thing: object, listed: object) -> None:
    text = text_for_model(*reading, answered(thing, listed, listed))
    assert text
    text.encode()


def text_for_model(read, arguments, call: Call) -> str:
    """Return the text and details of a result, or the message of an error, as the model reads it."""
    try:
        found = asyncio.run(read(API, call, arguments))
    except (ToolError, TemporaryError) as error:
        return str(error)
    return found.text + json.dumps(found.details)


def test_github_shows_deleted_accounts_and_commits_without_an_account() -> None:
    commit = {"sha": "a" * 40, "author": None, "commit": {"message": "m", "author": {"name": "Ada\nB", "date": "2026"}}}
    found = asyncio.run(github_list_commits.act(API, answered([commit]), ListCommits()))
    assert "aaaaaaa 2026 Ada B (no account): m" in found.text
    ghost = asyncio.run(
        github_get_issue.act(API, answered({"title": "t", "user": None, "state_reason": "not_planned"}, []), GetIssue())
    )
    assert "Author: ghost" in ghost.text
    assert "State:  (not planned)" in ghost.text
    folder = {"type": "symlink", "path": "x"}
    with pytest.raises(ToolError, match="not a file but a symlink"):
        asyncio.run(github_read_file.act(API, answered(folder), ReadFile(path="x")))


@given(st.text(st.sampled_from("@ada/`~\n <!->&#64;\u2060gofer:k")) | st.text(), st.text(min_size=1))
def test_github_text_is_found_by_the_marker_of_the_call_and_mentions_no_person(text: str, key: str) -> None:
    call = any_call(Scripted(), key=key, place=PLACE)
    other = any_call(Scripted(), key=f"{key}1", place=PLACE)
    body = signed(call, f"{text}\n{marker(other)}")
    assert carries(body, call)
    assert not carries(body, other)
    assert body.count("<!-- gofer:") == 1
    assert "--" not in marker(call).removeprefix("<!--").removesuffix("-->")
    said = body.rpartition("<sub>")[0]
    assert not re.search(r"(?<![A-Za-z0-9])@[A-Za-z0-9&]", html.unescape(said))


@pytest.mark.parametrize(
    "text", ["@ada", "_@ada_", "**@acme/core**", "\\@ada", "&#64;ada", "@&#97;da", "&#x40;ada", "`@ada`"]
)
def test_github_text_never_mentions_a_person_behind_an_escape(text: str) -> None:
    call = any_call(Scripted(), key="k", place=PLACE)
    assert f"@{JOINER}" in html.unescape(signed(call, text))


def test_github_destination_of_a_comment_is_the_issue_number() -> None:
    tools = {tool.name: tool for tool in bind_all(GITHUB_TOOLS, API)}
    comment = tools["github_add_comment"]
    named = [{"url": "https://github.com/acme/app/pull/7"}, {"number": 7}, {"number": 7, "repository": "acme/app"}]
    assert {comment.target.destination(comment.parse({"text": "x", **one})) for one in named} == {"7"}
    assert comment.target.destination(AddComment(text="x")) == ""
    assert comment.target.destination(AddComment(text="x", url="http://[")) == ""
    assert tools["github_create_issue"].target.destination(CreateIssue(title="x")) == ""
    effects = {name: tool.effect for name, tool in tools.items() if tool.effect != "read"}
    assert effects == {
        "github_add_comment": "lookup",
        "github_create_issue": "lookup",
        "github_request_reviewers": "keyed",
    }


def test_writes_of_the_run_stand_below_the_text_and_notify_no_person() -> None:
    told = any_call(Scripted(), place=PLACE, provenance=replace(PROVENANCE, wrote="asked @ada <b>"))
    assert f"<sub>asked @{JOINER}ada &lt;b&gt; · [answer-here prompt]" in signed(told, "Done.")
