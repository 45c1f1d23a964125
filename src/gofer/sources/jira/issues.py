"""The issue that a call names, its values in one line, and its project."""

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
    """Return the key or id of the issue that a model names, or else of the run's own issue. Raises ToolError."""
    text = issue.strip()
    if not text:
        if here := call.place.get("issue") or call.place.get("issue_id"):
            return here
        raise ToolError("Say which issue, as a key such as OPS-7: the request did not come from Jira.")
    if name := _read(text):
        return name
    raise ToolError("That is not the key of an issue; write it like OPS-7, or as a link to the issue.")


def is_home(call: Call, issue: str) -> bool:
    """Return whether the run began on this issue."""
    return is_at(issue, call.place)


def is_at(issue: str, place: Mapping[str, str]) -> bool:
    """Return whether a key, id or link names the issue of an event."""
    name = _read(issue.strip())
    return bool(name) and name in (place.get("issue"), place.get("issue_id"))


def issue_path(call: Call, issue: str) -> str:
    """Return the API path of the issue that a model names, or else of the run's own issue. Raises ToolError."""
    return path_of(issue_name(call, issue))


def path_of(name: str) -> str:
    """Return the API path of an issue."""
    return f"/issue/{quote(name, safe='')}"


def _read(text: str) -> str:
    """Return the key or id in a text; empty when the text is neither, nor a link."""
    if named := _KEY.fullmatch(text) or _LINK.fullmatch(text):
        return named[1].upper()
    if _ID.fullmatch(text):
        return text
    return ""


def one_line(text: str, limit: int = 255) -> str:
    """Return text on one line and cut, so that it is safe in a line by Gofer."""
    return " ".join(text.split())[:limit]


def named(value: object) -> str:
    """Return the name of a status, type or project."""
    return one_line(as_text(as_object(value).get("name")))


def person(value: object) -> str:
    """Return the name of a person, never an id; empty if there is no person."""
    user: Fields = as_object(value)
    return one_line(as_text(user.get("displayName")), 80)


def moment(value: object) -> float:
    """Return Jira's notation of a time in unix seconds; infinity for an unreadable one."""
    try:
        return datetime.fromisoformat(as_text(value)).timestamp()
    except (ValueError, OverflowError):
        return float("inf")


def shown(value: object) -> str:
    """Return Jira's notation of a time as text for readers."""
    seconds = moment(value)
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "an unknown time"


def is_readable(call: Call, issue: Fields) -> bool:
    """Return whether a run may read an issue: its own, or one that `reads` and the level allow."""
    key = as_text(issue.get("key"))
    private = as_object(issue.get("fields")).get("security") is not None
    if call.readable.holds(key.rpartition("-")[0], private=private):
        return True
    return is_home(call, key) or is_home(call, as_text(issue.get("id")))


SEES = frozenset({"Browse Projects"})
"""The permissions of a tool that reads issues."""


class OnIssue(Protocol):
    """Arguments that name an issue."""

    @property
    def issue(self) -> str:
        """Return the key or id of the issue or a link to it; empty for the issue of the request."""
        ...


class FindPlace(Arguments):
    """The issue to look up."""

    issue: str = Field(description="Key or id of the issue.")


def issue_place(origin: Origin, arguments: OnIssue) -> Place:
    """Return the issue that a call names. Raises ToolError."""
    return Place("jira", "issue", issue_name(origin, arguments.issue), "issue")


def on_issue(*content: str, narrow: bool = False) -> Writes:
    """Return the writes of a tool that acts on one issue. `content` names its other arguments."""
    return Writes({"issue": is_at}, frozenset(content), narrow)


@tool(effect="read", internal=True, scopes=SEES)
async def jira_find_place(api: JiraApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up the project of an issue."""
    # Read the current key: after a move, the old keys of an issue remain valid.
    issue = await api.read(call, path_of(arguments.issue), fields="project")
    project = as_text(as_object(as_object(issue.get("fields")).get("project")).get("key"))
    return _place_result(as_text(issue.get("key")), project)


@jira_find_place.mock
def _mock_place(arguments: FindPlace) -> ToolResult:
    """Return an issue in the project that its key names."""
    return _place_result(arguments.issue, arguments.issue.rpartition("-")[0])


def _place_result(issue: str, project: str) -> ToolResult:
    """Return an issue. Details: `id`, the issue's key, and `within`, the key of its project."""
    return ToolResult("Found.", "looked up a place", {"id": issue, "within": [project.upper()]})
