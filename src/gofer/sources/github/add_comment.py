"""How is a comment written on GitHub, and how is the one of an earlier attempt found?"""

from datetime import UTC, datetime

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.provenance import CLOCKS_APART, carries, signed
from gofer.sources.github.references import Numbered, Target, target_of
from gofer.sources.github.shown_text import Fields
from gofer.tools.definition import Call, ToolResult
from gofer.values.canonical_json import as_text
from gofer.values.errors import ToolError


class AddComment(Numbered):
    """What to say, and below which issue or pull request."""

    text: str = Field(min_length=1, description="The comment in GitHub's Markdown.")


async def add_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comments, with one link to the prompt and one to the run; details: repository, number, comment id and url."""
    target = comments_on(api, call, arguments)
    path = target.path("issues", "/comments")
    return commented(target, await api.write(call, path, body=signed(call, arguments.text)))


def comments_on(api: GitHubApi, call: Call, arguments: AddComment) -> Target:
    """What a comment is written on. Raises ToolError."""
    if not arguments.text.strip():
        raise ToolError("That is empty; write something.")
    return target_of(api, call, arguments)


async def find_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """The comment an earlier attempt of the same call wrote; None when it is certain that there is none."""
    target = target_of(api, call, arguments)
    async for comment in api.read_list(call, target.path("issues", "/comments"), since=since(call)):
        if carries(as_text(comment.get("body")), call):
            return commented(target, comment)
    return None


def since(call: Call) -> str:
    """The moment before which no attempt of a call can have happened, on GitHub's clock and in its form."""
    begin = max(0.0, call.since - CLOCKS_APART)
    return datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def commented(target: Target, comment: Fields) -> ToolResult:
    """A comment that was written."""
    url = as_text(comment.get("html_url"))
    details = {"repository": target.repository, "number": target.number, "comment": comment.get("id"), "url": url}
    return ToolResult(f"Commented on {target}: {url}", f"commented on {target}", details)
