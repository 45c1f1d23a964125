"""Changes of an issue that happen once, however often they are asked for: its status, and links to other pages."""

import hashlib
import re

from pydantic import Field

from gofer.sources.jira.adf import links
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.issues import issue_name, issue_path, named, one_line
from gofer.sources.jira.places import SEES, issue_place, on_issue
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

_LINKED = ToolResult("The link is there.", "linked an address")
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)


class TransitionIssue(Arguments):
    """Which issue, and where to."""

    status: str = Field(min_length=1, max_length=100, description="Name of the status it is to have, such as Done.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="keyed",
    place=issue_place,
    writes=on_issue("status"),
    scopes=SEES | {"Transition Issues"},
    everyday="close, resolve, reopen, finish, start, mark as done, move a ticket, card, bug or task on the "
    "board; change its state",
)
async def jira_transition_issue(api: JiraApi, call: Call, arguments: TransitionIssue) -> ToolResult:
    """Move a Jira issue to another status, such as In Progress or Done."""
    path = issue_path(call, arguments.issue)
    wanted = one_line(arguments.status).casefold()
    issue = await api.read(call, path, fields="status")
    key = as_text(issue.get("key"))
    now = named(as_object(issue.get("fields")).get("status"))
    if now.casefold() == wanted:
        return _moved(key, now)
    steps = [as_object(one) for one in as_list((await api.read(call, f"{path}/transitions")).get("transitions"))]
    leading = [step for step in steps if wanted in (named(step.get("to")).casefold(), named(step).casefold())]
    if not leading:
        possible = ", ".join(dict.fromkeys(named(step.get("to")) for step in steps)) or "none"
        raise ToolError(f"{key} is in {now}; from there Gofer can move it to: {possible}.")
    await api.write(call, f"{path}/transitions", {"transition": {"id": as_text(leading[0].get("id"))}})
    return _moved(key, named(leading[0].get("to")))


@jira_transition_issue.mock
def _mock_transition(call: Call, arguments: TransitionIssue) -> ToolResult:
    """Return an issue that has the status that was asked for."""
    return _moved(issue_name(call, arguments.issue), " ".join(arguments.status.split()))


def _moved(key: str, status: str) -> ToolResult:
    """Return an issue that has a status; details: the status as Jira writes it."""
    return ToolResult(f"{key} is in {status}.", f"moved {key}", {"status": status})


class LinkUrl(Arguments):
    """What to link, and from which issue."""

    url: str = Field(description="Address, beginning with https:// or http://.")
    title: str = Field(min_length=1, max_length=255, description="What the link is called.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="keyed",
    place=issue_place,
    writes=on_issue("url", "title"),
    scopes=SEES | {"Link Issues"},
    everyday="attach, connect or relate a url or link to a ticket, bug or task",
)
async def jira_link_url(api: JiraApi, call: Call, arguments: LinkUrl) -> ToolResult:
    """Link a Jira issue to a page, a pull request or a Slack thread."""
    path = issue_path(call, arguments.issue)
    _check_url(arguments)
    target: dict[str, object] = {"url": arguments.url, "title": one_line(arguments.title)}
    if origin := " · ".join(f"{words}: {address}" for words, address in links(call.provenance)):
        target["summary"] = origin[:255]
    # Made of the address: the same link twice is one, with the title of the second.
    identity = "gofer:" + hashlib.sha256(arguments.url.encode(errors="replace")).hexdigest()
    await api.write(call, f"{path}/remotelink", {"globalId": identity, "object": target})
    return _LINKED


@jira_link_url.mock
def _mock_link(call: Call, arguments: LinkUrl) -> ToolResult:
    """Return a link that Jira never got."""
    issue_name(call, arguments.issue)
    _check_url(arguments)
    return _LINKED


def _check_url(arguments: LinkUrl) -> None:
    """Raise ToolError for what is no address."""
    if not _URL.fullmatch(arguments.url):
        raise ToolError("That is not an address that can be linked; write one that begins with https://.")
