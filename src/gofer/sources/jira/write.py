"""The tools that write to issues: comments, links and statuses, each exactly once however often a call is repeated."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from gofer.sources.jira.adf import document
from gofer.sources.jira.api import PROPERTY, Fields, JiraApi, JiraRefusal
from gofer.sources.jira.field_types import ENTRIES, FIELDS, Given, Site
from gofer.sources.jira.form import PLACE, explained, form_of_step, form_values, steps_to
from gofer.sources.jira.issues import (
    SEES,
    is_home,
    issue_name,
    issue_path,
    issue_place,
    moment,
    named,
    on_issue,
    one_line,
    path_of,
)
from gofer.sources.origin_links import origin_links
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import TemporaryError, ToolError

PAGE = 100
"""Comments in one request."""
PAGES = 20
"""The most requests of one search."""
CLOCKS_APART = 300.0
"""The most seconds by which Jira's clock may be behind Gofer's."""
_FOR_THE_TEAM = {"key": "sd.public.comment", "value": {"internal": True}}
"""The property that makes a comment an internal note in a service project, where customers never read Gofer's texts."""


class AddComment(Arguments):
    """The comment, and its issue."""

    text: str = Field(min_length=1, max_length=30_000, description="The comment in Markdown.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="lookup",
    shows="comment",
    settle=10.0,
    place=issue_place,
    # `narrow`: a comment can have the audience of the comment that it answers.
    writes=on_issue("text", narrow=True),
    markdown=frozenset({"text"}),
    scopes=SEES | {"Add Comments"},
    everyday="reply, respond, note or update on a ticket, bug or task",
)
async def jira_add_comment(api: JiraApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comment on a Jira issue. Not for the answer to the request: that is delivered by itself."""
    name = issue_name(call, arguments.issue)
    body: dict[str, object] = {
        "body": document(arguments.text, call.provenance),
        "properties": [{"key": PROPERTY, "value": {"key": call.key}}, _FOR_THE_TEAM],
    }
    if is_home(call, name) and (audience := call.place.get("audience")):
        # Restrict the answer to the audience of the comment that it answers.
        body["visibility"] = {"type": call.place.get("audience_type", "role"), "value": audience}
    try:
        return _commented(await api.write(call, f"{path_of(name)}/comment", body))
    except JiraRefusal as refused:
        if "commentLevel" not in refused.fields:
            raise
        message = f"{refused.message_to_model} An admin of the project must add Gofer's account to it."
        raise ToolError(message, code=refused.code) from refused


@jira_add_comment.look
async def _find_comment(api: JiraApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """Return the comment that an earlier attempt of the same call wrote; see `find_comment`."""
    return await find_comment(api, call, issue_path(call, arguments.issue))


async def find_comment(api: JiraApi, call: Call, path: str) -> ToolResult | None:
    """Return the comment on an issue that an earlier attempt of the same call wrote, found by its property.

    Returns None when it certainly wrote none. Raises TemporaryError and JiraRefusal when that is unclear.
    """
    for page in range(PAGES):
        # Newest first: new comments only push others to the next page, so the search skips none.
        answer = await api.read(call, f"{path}/comment", orderBy="-created", startAt=page * PAGE, maxResults=PAGE)
        comments = [as_object(one) for one in as_list(answer.get("comments"))]
        recent = [one for one in comments if moment(one.get("created")) >= call.since - CLOCKS_APART]
        if found := await _marked(api, call, recent):
            return _commented(found)
        if len(recent) < PAGE:
            return None
    message = f"The issue has more than {PAGE * PAGES} newer comments; that is too many to look through."
    raise ToolError(message, code="too_many")


@jira_add_comment.mock
def _mock_comment(call: Call, arguments: AddComment) -> ToolResult:
    """Return a comment without writing it."""
    issue_name(call, arguments.issue)
    return _commented({"id": digits(arguments, 5)})


async def _marked(api: JiraApi, call: Call, comments: Sequence[Fields]) -> Fields | None:
    """Return the comment with the property of this call. A second request is needed, because lists omit properties."""
    ids = [int(number) for one in comments if (number := as_text(one.get("id"))).isascii() and number.isdecimal()]
    if not ids:
        return None
    answer = await api.write(call, "/comment/list?expand=properties", {"ids": ids})
    for comment in map(as_object, as_list(answer.get("values"))):
        for mark in map(as_object, as_list(comment.get("properties"))):
            if mark.get("key") == PROPERTY and as_object(mark.get("value")).get("key") == call.key:
                return comment
    return None


def _commented(comment: Fields) -> ToolResult:
    """Return a written comment. Details: its id."""
    return ToolResult("Commented.", "commented in Jira", {"comment": as_text(comment.get("id"))})


_LINKED = ToolResult("The link is there.", "linked an address")
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)


class TransitionIssue(Arguments):
    """The issue, and its new status."""

    status: str = Field(min_length=1, max_length=100, description="Name of the new status, such as Done.")
    fields: dict[str, Given] = Field(default_factory=dict[str, Given], max_length=ENTRIES, description=FIELDS)
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="keyed",
    shows="issue",
    place=issue_place,
    writes=on_issue("status", "fields"),
    plain_text=frozenset({"fields"}),
    scopes=SEES | {"Transition Issues"},
    everyday="close, resolve, reopen, finish, start, mark as done, move a ticket, card, bug or task on the "
    "board; change its state",
)
async def jira_transition_issue(api: JiraApi, call: Call, arguments: TransitionIssue) -> ToolResult:
    """Close, reopen or move a Jira issue: to another status, such as In Progress or Done."""
    path = issue_path(call, arguments.issue)
    key, now, steps = await steps_to(api, call, path, arguments.status, fields=bool(arguments.fields))
    if not steps:
        result = _moved(key, now)
        unset = " It was there before this attempt, which therefore set no fields." * bool(arguments.fields)
        return replace(result, text=f"{result.text}{unset}")
    site = Site(api, call, key.rpartition("-")[0])
    body: dict[str, object] = {"transition": {"id": as_text(steps[0].get("id"))}}
    if arguments.fields:
        body["fields"] = await form_values(site, form_of_step(steps[0], key), arguments.fields, PLACE)
    try:
        await api.write(call, f"{path}/transitions", body)
    except JiraRefusal as refused:
        raise await _explained(site, path, arguments, refused) from refused
    return _moved(key, named(steps[0].get("to")))


async def _explained(site: Site, path: str, arguments: TransitionIssue, refused: JiraRefusal) -> ToolError:
    """Return the refusal of a move in the words of its form."""
    try:
        key, _, steps = await steps_to(site.api, site.call, path, arguments.status, fields=True)
    except (ToolError, TemporaryError):
        return refused
    if not steps:
        return refused
    return await explained(site, form_of_step(steps[0], key), refused)


@jira_transition_issue.mock
def _mock_transition(call: Call, arguments: TransitionIssue) -> ToolResult:
    """Return an issue with the requested status."""
    return _moved(issue_name(call, arguments.issue), " ".join(arguments.status.split()))


def _moved(key: str, status: str) -> ToolResult:
    """Return an issue with its status. Details: Jira's name of the status."""
    return ToolResult(f"{key} is in {status}.", f"moved {key}", {"status": status})


class LinkUrl(Arguments):
    """The link, and its issue."""

    url: str = Field(description="Address, beginning with https:// or http://.")
    title: str = Field(min_length=1, max_length=255, description="What the link is called.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="keyed",
    place=issue_place,
    writes=on_issue("url", "title"),
    plain_text=frozenset({"title"}),
    addresses=frozenset({"url"}),
    scopes=SEES | {"Link Issues"},
    everyday="attach, connect or relate a url or link to a ticket, bug or task",
)
async def jira_link_url(api: JiraApi, call: Call, arguments: LinkUrl) -> ToolResult:
    """Link a Jira issue to a page, a pull request or a chat message."""
    path = issue_path(call, arguments.issue)
    _check_url(arguments)
    target: dict[str, object] = {"url": arguments.url, "title": one_line(arguments.title)}
    if origin := " · ".join(f"{words}: {address}" for words, address in origin_links(call.provenance)):
        target["summary"] = origin[:255]
    # The id is derived from the address, so a second link to the same address replaces the first.
    identity = "gofer:" + hashlib.sha256(arguments.url.encode(errors="replace")).hexdigest()
    await api.write(call, f"{path}/remotelink", {"globalId": identity, "object": target})
    return _LINKED


@jira_link_url.mock
def _mock_link(call: Call, arguments: LinkUrl) -> ToolResult:
    """Return a link without adding it."""
    issue_name(call, arguments.issue)
    _check_url(arguments)
    return _LINKED


def _check_url(arguments: LinkUrl) -> None:
    """Raise ToolError unless the url is an address."""
    if not _URL.fullmatch(arguments.url):
        raise ToolError("That is not an address that can be linked; write one that begins with https://.")
