"""The issue that a model means, and whether the run began with it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from gofer.sources.jira.api import Fields
from gofer.tools.definition import Call
from gofer.tools.places import Origin
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
