"""The tool that asks people to review a pull request of GitHub."""

import re

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.references import Numbered, Target, number_of, on_one, place_of, target_of
from gofer.sources.github.shown_text import Fields, names
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import ToolError

_LOGIN = re.compile(r"@?([A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}))")
_TEAM = re.compile(r"@?[A-Za-z0-9_.-]{1,100}/([A-Za-z0-9_.-]{1,100})")


class RequestReviewers(Numbered):
    """Whom to ask, and about which pull request."""

    reviewers: list[str] = Field(
        min_length=1, max_length=15, description="Logins such as ada; a team as owner/team. Never the author."
    )


@tool(
    effect="keyed",
    destination=number_of,
    everyday="reviewer, code review, look at my code, assign somebody to a PR or merge request",
)
async def github_request_reviewers(api: GitHubApi, call: Call, arguments: RequestReviewers) -> ToolResult:
    """Ask people or teams to review a pull request. They are notified."""
    people, teams = _sorted_out(arguments.reviewers)
    target = target_of(api, call, arguments)
    asked: dict[str, object] = {"reviewers": people, "team_reviewers": teams}
    wanted = {name: value for name, value in asked.items() if value}
    pull = await api.write(call, target.path("pulls", "/requested_reviewers"), **wanted)
    return _result(target, pull)


github_request_reviewers.place(place_of)
github_request_reviewers.writes(on_one("reviewers"))


@github_request_reviewers.mock
def _mock(api: GitHubApi, call: Call, arguments: RequestReviewers) -> ToolResult:
    """Return everyone who was named as asked."""
    people, teams = _sorted_out(arguments.reviewers)
    pull: Fields = {
        "requested_reviewers": [{"login": login} for login in people],
        "requested_teams": [{"slug": slug} for slug in teams],
    }
    return _result(target_of(api, call, arguments), pull)


def _result(target: Target, pull: Fields) -> ToolResult:
    """Return all who are asked by now; details: repository, number, reviewers and teams."""
    logins, slugs = names(pull.get("requested_reviewers"), "login"), names(pull.get("requested_teams"), "slug")
    everybody = ", ".join([*logins, *(f"the team {slug}" for slug in slugs)]) or "nobody"
    details = {"repository": target.repository, "number": target.number, "reviewers": logins, "teams": slugs}
    return ToolResult(f"Asked. Now asked to review {target}: {everybody}.", f"asked for reviews of {target}", details)


def _sorted_out(reviewers: list[str]) -> tuple[list[str], list[str]]:
    """Logins, and slugs of teams. Raises ToolError."""
    people: list[str] = []
    teams: list[str] = []
    for name in map(str.strip, reviewers):
        if team := _TEAM.fullmatch(name):
            teams.append(team[1])
        elif person := _LOGIN.fullmatch(name):
            people.append(person[1])
        else:
            raise ToolError(f"{name[:80]!r} is no login of GitHub; write one such as ada, or a team as owner/team.")
    return people, teams
