"""The tool that opens an issue on GitHub."""

from pydantic import Field

from gofer.sources.github.add_comment import SETTLE, since
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.provenance import carries, signed
from gofer.sources.github.references import InRepository, Target, repository_of, repository_place
from gofer.sources.github.shown_text import Fields, one_line
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.values.canonical_json import as_text


class CreateIssue(InRepository):
    """What the issue says."""

    title: str = Field(min_length=1, max_length=256, description="One line.")
    body: str = Field(default="", description="The text in GitHub's Markdown.")
    labels: list[str] = Field(default_factory=list[str], max_length=20, description="Labels the repository has.")


@tool(
    effect="lookup",
    settle=SETTLE,
    place=repository_place,
    everyday="file a bug or ticket on github, report a problem in a repository",
)
async def github_create_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Open an issue."""
    repository = repository_of(call, arguments)
    labels: dict[str, object] = {"labels": arguments.labels} if arguments.labels else {}
    title, body = one_line(arguments.title, 256), signed(call, arguments.body)
    return _opened(repository, await api.write(call, f"/repos/{repository}/issues", title=title, body=body, **labels))


@github_create_issue.look
async def _find(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult | None:
    """Return the issue that an earlier attempt of the same call opened; None when it is certain that there is none."""
    repository = repository_of(call, arguments)
    listed = api.read_list(call, f"/repos/{repository}/issues", state="all", since=since(call))
    async for issue in listed:
        if carries(as_text(issue.get("body")), call):
            return _opened(repository, issue)
    return None


@github_create_issue.mock
def _mock(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Return an issue that was opened nowhere."""
    target = Target(repository_of(call, arguments), int(digits(arguments, 5)))
    return _opened(target.repository, {"number": target.number, "html_url": target.page(api, "issues")})


def _opened(repository: str, issue: Fields) -> ToolResult:
    """Return an issue that was opened; details: repository, number and url."""
    number, url = issue.get("number"), as_text(issue.get("html_url"))
    details = {"repository": repository, "number": number, "url": url}
    return ToolResult(f"Opened {repository}#{number}: {url}", f"opened {repository}#{number}", details)
