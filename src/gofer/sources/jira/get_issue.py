"""The tool that reads an issue, and the issue's text for a model: header, description and comments."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from pydantic import Field

from gofer.sources.jira.adf_text import adf_text, unnamed_people
from gofer.sources.jira.api import MISSING, Fields, JiraApi, JiraRefusal
from gofer.sources.jira.field_words import field_lines
from gofer.sources.jira.get_attachment import attached, attachment_ids, lines
from gofer.sources.jira.issues import SEES, is_home, is_readable, issue_name, named, one_line, path_of, person, shown
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import MOMENT, NAME, digits
from gofer.tools.readable import hidden, readers
from gofer.values.canonical_json import as_list, as_object, as_text, indented

FIELDS = "*all,-comment,-worklog,-votes,-watches"
"""All fields but those that other requests read or that concern no reader."""
LOOK_UPS = 10
"""The most people whose names are looked up because Jira mentions them without a name."""
COMMENTS = 100
"""The most comments that are read; the newest ones."""
DESCRIPTION_LIMIT = 20_000
"""The most characters of a description that are shown."""
COMMENT_LIMIT = 8_000
"""The most characters of one comment that are shown."""
COMMENTS_BUDGET = 30_000
"""The most characters of all comments that are shown; the newest comments are kept."""
SUBJECT_LIMIT = 20_000
"""The most characters that are shown of the comment that the run is about."""


class GetIssue(Arguments):
    """The issue to read."""

    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


@tool(
    effect="read",
    scopes=SEES,
    everyday="read, show, open or look at a ticket, bug, task or story; what does it say, details",
)
async def jira_get_issue(api: JiraApi, call: Call, arguments: GetIssue) -> ToolResult:
    """Read one Jira issue (ticket) by its key: summary, status, people, description and comments, oldest first."""
    name = issue_name(call, arguments.issue)
    try:
        issue = await api.read(call, path_of(name), fields=FIELDS, expand="names")
    except JiraRefusal as refused:
        raise (hidden(MISSING) if refused.code == "404" and not is_home(call, name) else refused) from refused
    if not is_readable(call, issue):
        raise hidden(MISSING)
    at_home = is_home(call, as_text(issue.get("key"))) or is_home(call, as_text(issue.get("id")))
    path = f"{path_of(name)}/comment"
    page = await api.read(call, path, orderBy="-created", maxResults=COMMENTS, startAt=0)
    subject = call.place.get("comment", "") if at_home else ""
    found, deleted = await _with_subject(api, call, path, page, subject)
    people = await _people(api, call, issue, found)
    result = _issue_result(api, issue, found, people, at_home=at_home, subject=subject)
    if deleted:
        return replace(result, details={**(result.details or {}), "deleted": True})
    return result


async def _with_subject(api: JiraApi, call: Call, path: str, page: Fields, subject: str) -> tuple[Fields, bool]:
    """Return a page of comments with the comment that started the run, and whether that comment was deleted."""
    comments = as_list(page.get("comments"))
    if not subject or any(as_object(one).get("id") == subject for one in comments):
        return page, False
    try:
        own = await api.read(call, f"{path}/{quote(subject, safe='')}")
    except JiraRefusal as refused:
        if refused.status != 404:
            raise
        # Gofer's account may not see comments that only some people see, so those may exist.
        return page, not (call.place.get("audience") or call.place.get("internal"))
    return {**page, "comments": [*comments, *([own] if own.get("id") == subject else [])]}, False


async def _people(api: JiraApi, call: Call, issue: Fields, page: Fields) -> dict[str, str]:
    """Return the mentions of people by account id, with a request for each person whom the issue does not name."""
    fields = as_object(issue.get("fields"))
    comments = [as_object(one) for one in as_list(page.get("comments"))]
    known = [fields.get("assignee"), fields.get("reporter"), *(one.get("author") for one in comments)]
    people = {as_text(as_object(one).get("accountId")): f"@{person(one)}" for one in known if person(one)}
    texts = [fields.get("description"), *(one.get("body") for one in comments)]
    missing = dict.fromkeys(id_ for text in texts for id_ in unnamed_people(text) if id_ not in people)
    for id_ in [*missing][:LOOK_UPS]:
        with contextlib.suppress(JiraRefusal):
            if name := person(await api.read(call, "/user", accountId=id_)):
                people[id_] = f"@{name}"
    return people


@jira_get_issue.mock
def _mock(api: JiraApi, call: Call, arguments: GetIssue) -> ToolResult:
    """Return an open issue with one comment."""
    name = issue_name(call, arguments.issue)
    # The event of a run may name the issue by its number only.
    key = name
    if name.isdecimal():
        key = f"MOCK-{name}"
    said = {"author": {"displayName": NAME}, "created": MOMENT, "body": adf_of("Could somebody look at this?")}
    return _issue_result(api, mock_issue(key), {"comments": [said], "total": 1}, {}, at_home=is_home(call, name))


def _issue_result(
    api: JiraApi, issue: Fields, page: Fields, people: Mapping[str, str], *, at_home: bool, subject: str = ""
) -> ToolResult:
    """Return an issue with a page of its comments, which come newest first.

    `people` are the mentions by account id. `at_home` says whether the run began on this issue, and `subject` is the id
    of the comment that started it.
    Details: key, id, url, `private` (the issue has a security level), comments (count), facts and subject.
    """
    key = as_text(issue.get("key"))
    number = as_text(issue.get("id"))
    fields = as_object(issue.get("fields"))
    private = fields.get("security") is not None
    comments = [as_object(one) for one in reversed(as_list(page.get("comments")))]
    total = page.get("total")
    older = max(0, total - len(comments)) if isinstance(total, int) else 0
    open_ones = [one for one in comments if one.get("visibility") is None or (private and at_home)]
    files = attached(fields)
    read = partial(adf_text, people=people, files=attachment_ids(fields))
    names = as_object(issue.get("names"))
    header = [*_header(api, key, fields), *field_lines(fields, names, read)]
    about = [*header, *_description(read(fields.get("description")))]
    about += lines(files, len(as_list(fields.get("attachment"))))
    service = as_object(fields.get("project")).get("projectTypeKey") == "service_desk"
    said = [_comment(api, key, comment, subject, read(comment.get("body")), service) for comment in open_ones]
    text = "\n".join([*about, *_comments(said, older, subject)])
    if hidden := len(comments) - len(open_ones):
        text += f"\n\n({_counted(hidden)} for some people only {'is' if hidden == 1 else 'are'} left out.)"
    return ToolResult(
        text=text,
        summary=f"read {key} with {_counted(len(open_ones))}",
        details={
            "key": key,
            "id": number,
            "url": api.browse(key),
            "private": private,
            "comments": len(open_ones),
            "facts": facts_of(fields),
            "subject": _subject(said, subject),
            **readers("people whom the security level of the issue admits", private=private),
        },
        files=files,
    )


def facts_of(fields: Fields) -> dict[str, object]:
    """Return the facts about an issue that conditions of workflow files can refer to."""
    return {
        "project": as_text(as_object(fields.get("project")).get("key")),
        "type": named(fields.get("issuetype")),
        "status": named(fields.get("status")),
        "labels": [as_text(label) for label in as_list(fields.get("labels"))],
    }


def _header(api: JiraApi, key: str, fields: Fields) -> list[str]:
    project = as_object(fields.get("project"))
    rows = {
        "Type": named(fields.get("issuetype")),
        "Status": named(fields.get("status")),
        "Project": f"{named(project)} ({as_text(project.get('key'))})",
        "Priority": named(fields.get("priority")),
        "Labels": ", ".join(one_line(as_text(label)) for label in as_list(fields.get("labels"))),
        "Assignee": _shown_person(fields.get("assignee")) or "nobody",
        "Reporter": _shown_person(fields.get("reporter")) or "nobody",
        "Created": shown(fields.get("created")),
        "Updated": shown(fields.get("updated")),
        "Link": api.browse(key),
    }
    summary = one_line(as_text(fields.get("summary")))
    return [f"{key}: {summary}", *(f"{name}: {value}" for name, value in rows.items() if value)]


def _shown_person(value: object) -> str:
    """Return a name, marked for a customer, so that no customer is taken for a colleague; empty without a person."""
    name = person(value)
    if name and as_object(value).get("accountType") == "customer":
        return f"{name} (customer)"
    return name


def _description(text: str) -> list[str]:
    return ["", "Description:", *_indented(text or "(none)", DESCRIPTION_LIMIT)]


@dataclass(frozen=True, slots=True)
class _Comment:
    """One comment in the text for a model."""

    id: str
    author: str
    time: str
    header: str
    text: str


def _comment(api: JiraApi, key: str, comment: Fields, subject: str, text: str, service: bool) -> _Comment:
    """Return a comment with its header line. The header of the run's subject has its id, so no name can imitate it.

    `service` says that the project is a service project, whose customers read all comments but internal notes.
    """
    id_ = as_text(comment.get("id"))
    author = _shown_person(comment.get("author")) or "Somebody"
    time = shown(comment.get("created"))
    text = text or "(no text)"
    note = ""
    if service and comment.get("jsdPublic") is False:
        note = ", an internal note"
    elif service:
        note = ", which customers can read"
    if not subject or id_ != subject:
        header = f"- {author} at {time}{note}:"
        return _Comment(id=id_, author=author, time=time, header=header, text=_shortened(text, COMMENT_LIMIT))
    rest = f"Only a person can read the rest, at {api.browse(key)}?focusedCommentId={quote(id_, safe='')}."
    header = f"- {author} at {time}{note} (comment {id_}):"
    return _Comment(id=id_, author=author, time=time, header=header, text=_shortened(text, SUBJECT_LIMIT, rest))


def _subject(said: Sequence[_Comment], subject: str) -> dict[str, str]:
    """Return the text, header, author and time of the comment that started the run; empty if it was not read."""
    found = next((one for one in said if subject and one.id == subject), None)
    if found is None:
        return {}
    return {"words": found.text, "header": found.header, "author": found.author, "time": found.time}


def _comments(comments: Sequence[_Comment], older: int, subject: str) -> list[str]:
    """Return the lines of the newest comments that fit and of the run's subject, oldest first."""
    lines: list[list[str]] = []
    left = COMMENTS_BUDGET - sum(len(comment.text) for comment in comments if comment.id == subject)
    for comment in reversed(comments):
        own = bool(subject) and comment.id == subject
        if not own:
            left -= len(comment.text)
        if left >= 0 or own or not lines:
            lines.append(["", comment.header, *indented(comment.text)])
    older += len(comments) - len(lines)
    begin = ["", "Comments, oldest first:" if lines else "No comments."]
    if older:
        begin += ["", f"({_counted(older, 'older ')} left out here.)"]
    return begin + [line for block in reversed(lines) for line in block]


def _indented(text: str, limit: int) -> list[str]:
    """Return the lines of a text, indented so that no text by people can imitate a line by Gofer."""
    return indented(_shortened(text, limit))


def _shortened(text: str, limit: int, rest: str = "") -> str:
    """Return a text, cut to `limit` characters with a note about the rest."""
    if len(text) <= limit:
        return text
    note = f"{len(text) - limit} further characters are left out. {rest}".rstrip()
    return f"{text[:limit]}\n[{note}]"


def _counted(number: int, what: str = "") -> str:
    return f"{number} {what}comment{'' if number == 1 else 's'}"


def mock_issue(key: str, summary: str = "Something to do", status: str = "", kind: str = "") -> Fields:
    """Return an issue in the form of Jira's answer."""
    project = key.rpartition("-")[0]
    fields: Fields = {
        "summary": summary,
        "status": {"name": status or "To Do"},
        "issuetype": {"name": kind or "Task"},
        "project": {"key": project, "name": project},
        "priority": {"name": "Medium"},
        "labels": ["later"],
        "assignee": None,
        "reporter": {"displayName": NAME},
        "created": MOMENT,
        "updated": MOMENT,
        "description": adf_of("What has to be done stands here."),
        "attachment": [],
        "security": None,
    }
    return {"key": key, "id": digits(key, 5), "fields": fields}


def adf_of(words: str) -> Fields:
    """Return a document with one paragraph."""
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": words}]}
    return {"version": 1, "type": "doc", "content": [paragraph]}
