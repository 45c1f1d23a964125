"""The pages on which people read the issues and pull requests of the simulated GitHub."""

from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer_simulators.github.repositories import GitHubRefusal, Hub, Issue, Pull
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.web_pages import anchor, comment_html, facts, linked, missing_page, web_page

_SYSTEM = "GitHub"


class IssuePages:
    """The list of issues and pull requests, and one page for each of them."""

    def __init__(self, hub: Hub, links: LocalLinks) -> None:
        self._hub = hub
        self._links = links

    def routes(self) -> list[Route]:
        """Return the routes of the app. None of these paths is a path of the API."""
        return [
            Route("/", self._list, methods=["GET"]),
            Route("/{owner}/{repository}/issues/{number:int}", self._issue, methods=["GET"]),
            Route("/{owner}/{repository}/pull/{number:int}", self._issue, methods=["GET"]),
        ]

    async def _list(self, _: Request) -> Response:
        rows = "".join(
            f"<li>{anchor(_path(issue), f'{issue.repository}#{issue.number}', self._links)} {escape(issue.title)}"
            f" <small>{_status(issue)}</small></li>"
            for repository in self._hub.repositories.values()
            for issue in repository.issues.values()
            if not repository.hidden
        )
        return web_page(_SYSTEM, "Issues and pull requests", f"<ul>{rows}</ul>")

    async def _issue(self, request: Request) -> Response:
        name = f"{request.path_params['owner']}/{request.path_params['repository']}"
        number = request.path_params["number"]
        try:
            issue = self._hub.issue(name, number)
        except GitHubRefusal:
            return missing_page(_SYSTEM, f"issue or pull request {name}#{number}")
        return web_page(_SYSTEM, f"{issue.title} #{issue.number}", self._content(issue))

    def _content(self, issue: Issue) -> str:
        known = [("Repository", issue.repository), ("Author", issue.user), ("Status", _status(issue))]
        body = f'<div class="text">{linked(issue.body, self._links)}</div>'
        comments = "".join(comment_html(one.user, linked(one.body, self._links)) for one in issue.comments)
        if issue.pull is None:
            return facts(known) + body + comments
        known.append(("Reviewers", ", ".join([*issue.pull.reviewers, *issue.pull.teams])))
        return facts(known) + body + _changes(issue.pull) + comments


def _path(issue: Issue) -> str:
    if issue.pull is None:
        return f"/{issue.repository}/issues/{issue.number}"
    return f"/{issue.repository}/pull/{issue.number}"


def _status(issue: Issue) -> str:
    if issue.pull is not None and issue.pull.merged_at is not None:
        return "merged"
    return issue.state


def _changes(pull: Pull) -> str:
    rows = "".join(f"<li><code>{escape(path)}</code></li>" for path in pull.changes)
    return f"<h2>Changed files</h2><ul>{rows}</ul>"
