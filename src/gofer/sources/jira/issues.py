"""The issue that a call names, what it says of itself in one line, and the project that it belongs to."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import quote

from pydantic import Field

from gofer.sources.jira.api import Fields, JiraApi
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError

_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,50}-[0-9]{1,12})", re.ASCII)
_LINK = re.compile(r"https?://\S+/(?:browse|issues)/" + _KEY.pattern + r"(?:[/?#]\S*)?", re.ASCII)
_ID = re.compile(r"[0-9]{1,20}", re.ASCII)


def issue_name(call: Origin, issue: str) -> str:
    """Return the key or id of the issue a model names, or of the one the run began with. Raises ToolError."""
    text = issue.strip()
    if not text:
        if here := call.place.get("issue") or call.place.get("issue_id"):
            return here
        raise ToolError("Say which issue, as a key such as OPS-7: the request did not come from Jira.")
    if name := _read(text):
        return name
    raise ToolError("That is not the key of an issue; write it like OPS-7, or as a link to the issue.")


def is_home(call: Call, issue: str) -> bool:
    """Return whether the run began with this issue."""
    return is_at(issue, call.place)


def is_at(issue: str, place: Mapping[str, str]) -> bool:
    """Return whether a key, an id or a link means the issue of an event's place."""
    name = _read(issue.strip())
    return bool(name) and name in (place.get("issue"), place.get("issue_id"))


def issue_path(call: Call, issue: str) -> str:
    """Return where the API has the issue a model names, or the one the run began with. Raises ToolError."""
    return path_of(issue_name(call, issue))


def path_of(name: str) -> str:
    """Return where the API has an issue."""
    return f"/issue/{quote(name, safe='')}"


def _read(text: str) -> str:
    """Return the key or id that a text is; empty when it is neither."""
    if named := _KEY.fullmatch(text) or _LINK.fullmatch(text):
        return named[1].upper()
    if _ID.fullmatch(text):
        return text
    return ""


def one_line(text: str, limit: int = 255) -> str:
    """Return text as it may stand in one of our own lines."""
    return " ".join(text.split())[:limit]


def named(value: object) -> str:
    """Return the name of a status, a type, a project."""
    return one_line(as_text(as_object(value).get("name")))


def person(value: object) -> str:
    """Return the name of a person, never an id; empty where there is no person."""
    user: Fields = as_object(value)
    return one_line(as_text(user.get("displayName")), 80)


def moment(value: object) -> float:
    """Return a time as Jira writes it in unix seconds; an unreadable one is endlessly far ahead."""
    try:
        return datetime.fromisoformat(as_text(value)).timestamp()
    except (ValueError, OverflowError):
        return float("inf")


def shown(value: object) -> str:
    """Return a time as Jira writes it, for a reader."""
    seconds = moment(value)
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "an unknown time"


SEES = frozenset({"Browse Projects"})
"""What a tool that reads issues needs to be allowed."""


class OnIssue(Protocol):
    """Arguments that name an issue."""

    @property
    def issue(self) -> str:
        """Return its key, its id or a link to it; empty for the issue that the request came from."""
        ...


class FindPlace(Arguments):
    """Which issue."""

    issue: str = Field(description="Key or id of the issue.")


def issue_place(origin: Origin, arguments: OnIssue) -> Place:
    """Return the issue that a call names. Raises ToolError."""
    return Place("jira", "issue", issue_name(origin, arguments.issue), "issue")


def on_issue(*content: str, narrow: bool = False) -> Writes:
    """Return what a tool writes that acts on one issue; `content` are its other arguments."""
    return Writes({"issue": is_at}, frozenset(content), narrow)


@tool(effect="read", internal=True, scopes=SEES)
async def jira_find_place(api: JiraApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up to which project an issue belongs."""
    # The key as it is now: an issue keeps its old keys when it moves.
    issue = await api.read(call, path_of(arguments.issue), fields="project")
    project = as_text(as_object(as_object(issue.get("fields")).get("project")).get("key"))
    return _place_result(as_text(issue.get("key")), project)


@jira_find_place.mock
def _mock_place(arguments: FindPlace) -> ToolResult:
    """Return an issue that never moved."""
    return _place_result(arguments.issue, arguments.issue.rpartition("-")[0])


def _place_result(issue: str, project: str) -> ToolResult:
    """Return an issue that was looked up; details: `id`, its key, and `within`, the key of its project."""
    return ToolResult("Found.", "looked up a place", {"id": issue, "within": [project.upper()]})
