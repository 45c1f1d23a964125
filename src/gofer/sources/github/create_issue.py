"""How is an issue opened on GitHub, and how is the one of an earlier attempt found?"""

from pydantic import Field

from gofer.sources.github.add_comment import since
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.provenance import carries, signed
from gofer.sources.github.references import InRepository, repository_of
from gofer.sources.github.shown_text import Fields, one_line
from gofer.tools.definition import Call, ToolResult
from gofer.values.canonical_json import as_text


class CreateIssue(InRepository):
    """What the issue says."""

    title: str = Field(min_length=1, max_length=256, description="One line.")
    body: str = Field(default="", description="The text in GitHub's Markdown.")
    labels: list[str] = Field(default_factory=list[str], max_length=20, description="Labels the repository has.")


async def create_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Opens an issue whose text ends with its links; details: repository, number and url."""
    repository = repository_of(call, arguments)
    labels: dict[str, object] = {"labels": arguments.labels} if arguments.labels else {}
    title, body = one_line(arguments.title, 256), signed(call, arguments.body)
    return opened(repository, await api.write(call, f"/repos/{repository}/issues", title=title, body=body, **labels))


async def find_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult | None:
    """The issue an earlier attempt of the same call opened; None when it is certain that there is none."""
    repository = repository_of(call, arguments)
    listed = api.read_list(call, f"/repos/{repository}/issues", state="all", since=since(call))
    async for issue in listed:
        if carries(as_text(issue.get("body")), call):
            return opened(repository, issue)
    return None


def opened(repository: str, issue: Fields) -> ToolResult:
    """An issue that was opened."""
    number, url = issue.get("number"), as_text(issue.get("html_url"))
    details = {"repository": repository, "number": number, "url": url}
    return ToolResult(f"Opened {repository}#{number}: {url}", f"opened {repository}#{number}", details)
