"""The tool that comments on an issue or a pull request of GitHub."""

from datetime import UTC, datetime

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.provenance import CLOCKS_APART, carries, signed
from gofer.sources.github.references import Numbered, Target, number_of, on_one, place_of, target_of
from gofer.sources.github.shown_text import Fields
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.values.canonical_json import as_text
from gofer.values.errors import ToolError

SETTLE = 10.0
"""Seconds after which something GitHub wrote is sure to be in its lists."""


class AddComment(Numbered):
    """What to say, and below which issue or pull request."""

    text: str = Field(min_length=1, description="The comment in GitHub's Markdown.")


@tool(
    effect="lookup",
    settle=SETTLE,
    # A repository may be left out or stand in an address; the number is the same.
    destination=number_of,
    everyday="reply, respond or write on a PR, merge request or github ticket",
)
async def github_add_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comment on an issue or a pull request."""
    target = _target(api, call, arguments)
    path = target.path("issues", "/comments")
    return _commented(target, await api.write(call, path, body=signed(call, arguments.text)))


github_add_comment.place(place_of)
github_add_comment.writes(on_one("text"))


@github_add_comment.look
async def _find(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """Return the comment an earlier attempt of the same call wrote; None when it is certain that there is none."""
    target = target_of(api, call, arguments)
    async for comment in api.read_list(call, target.path("issues", "/comments"), since=since(call)):
        if carries(as_text(comment.get("body")), call):
            return _commented(target, comment)
    return None


@github_add_comment.mock
def _mock(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult:
    """Return a comment that GitHub never got."""
    target = _target(api, call, arguments)
    number = digits(arguments, 9)
    url = f"{target.page(api, 'issues')}#issuecomment-{number}"
    return _commented(target, {"id": int(number), "html_url": url})


def _target(api: GitHubApi, call: Call, arguments: AddComment) -> Target:
    """Return what a comment is written on. Raises ToolError."""
    if not arguments.text.strip():
        raise ToolError("That is empty; write something.")
    return target_of(api, call, arguments)


def since(call: Call) -> str:
    """The moment before which no attempt of a call can have happened, on GitHub's clock and in its form."""
    begin = max(0.0, call.since - CLOCKS_APART)
    return datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _commented(target: Target, comment: Fields) -> ToolResult:
    """Return a comment that was written; details: repository, number, comment id and url."""
    url = as_text(comment.get("html_url"))
    details = {"repository": target.repository, "number": target.number, "comment": comment.get("id"), "url": url}
    return ToolResult(f"Commented on {target}: {url}", f"commented on {target}", details)
