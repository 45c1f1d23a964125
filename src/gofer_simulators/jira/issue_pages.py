"""The pages on which people read the issues of the simulated Jira."""

from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer_simulators.jira.adf_html import adf_html
from gofer_simulators.jira.site import Issue, Site
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.web_pages import anchor, comment_html, facts, missing_page, web_page

_SYSTEM = "Jira"


class IssuePages:
    """The list of issues, and one page for each issue."""

    def __init__(self, site: Site, links: LocalLinks) -> None:
        self._site = site
        self._links = links

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/", self._list, methods=["GET"]),
            Route("/browse/{key}", self._issue, methods=["GET"]),
        ]

    async def _list(self, _: Request) -> Response:
        issues = reversed(self._site.visible(self._site.all_issues()))
        rows = "".join(
            f"<li>{anchor(f'/browse/{issue.key}', issue.key, self._links)} {escape(issue.summary)}"
            f" <small>{escape(issue.status)}</small></li>"
            for issue in issues
        )
        return web_page(_SYSTEM, "Issues", f"<ul>{rows}</ul>")

    async def _issue(self, request: Request) -> Response:
        key = request.path_params["key"]
        issue = self._site.find(key)
        if issue is None:
            return missing_page(_SYSTEM, f"issue {key}")
        return web_page(_SYSTEM, f"{issue.key}: {issue.summary}", self._content(issue))

    def _content(self, issue: Issue) -> str:
        known = facts(
            [
                ("Project", self._site.projects[issue.project].name),
                ("Type", issue.type),
                ("Status", issue.status),
                ("Reporter", self._name(issue.reporter)),
                ("Assignee", self._name(issue.assignee)),
                ("Labels", ", ".join(issue.labels)),
            ]
        )
        description = ""
        if issue.description:
            description = f"<h2>Description</h2>{adf_html(issue.description, self._links)}"
        return known + description + self._remote_links(issue) + self._comments(issue)

    def _remote_links(self, issue: Issue) -> str:
        if not issue.remote_links:
            return ""
        rows = "".join(f"<li>{anchor(one.url, one.title, self._links)}</li>" for one in issue.remote_links)
        return f"<h2>Links</h2><ul>{rows}</ul>"

    def _comments(self, issue: Issue) -> str:
        if not issue.comments:
            return ""
        shown = (comment_html(self._name(one.author), adf_html(one.body, self._links)) for one in issue.comments)
        return f"<h2>Comments</h2>{''.join(shown)}"

    def _name(self, account: str) -> str:
        user = self._site.users.get(account)
        if user is None:
            return account
        return user.name
