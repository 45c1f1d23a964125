"""What does each tool of Jira give where no Jira is there? Its own form, made of the arguments alone."""

from gofer.sources.jira.add_comment import AddComment, commented
from gofer.sources.jira.api import Fields, JiraApi
from gofer.sources.jira.change_issue import LINKED, LinkUrl, TransitionIssue, check_url, moved
from gofer.sources.jira.create_issue import CreateIssue, created
from gofer.sources.jira.get_attachment import GetAttachment
from gofer.sources.jira.get_issue import GetIssue, issue_result
from gofer.sources.jira.issues import is_home, issue_name
from gofer.sources.jira.places import FindPlace, place_result
from gofer.sources.jira.search import Search, found_result, jql
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT, NAME, digits, fetched


def get_attachment(call: Call, arguments: GetAttachment) -> ToolResult:
    """A file of one line."""
    return fetched("Jira")


def find_place(call: Call, arguments: FindPlace) -> ToolResult:
    """An issue that never moved."""
    return place_result(arguments.issue, arguments.issue.rpartition("-")[0])


def search(call: Call, arguments: Search) -> ToolResult:
    """One issue that has what was asked for."""
    jql(arguments)
    key = f"{arguments.project.upper() or 'MOCK'}-{digits(arguments, 3)}"
    found = _issue(key, arguments.text or "Something like it", arguments.status, arguments.type)
    return found_result(call, {"issues": [found], "isLast": True})


def get_issue(api: JiraApi, call: Call, arguments: GetIssue) -> ToolResult:
    """An open issue with one comment."""
    name = issue_name(call, arguments.issue)
    # A run may know its issue by number alone.
    key = f"MOCK-{name}" if name.isdecimal() else name
    said = {"author": {"displayName": NAME}, "created": MOMENT, "body": _text("Could somebody look at this?")}
    return issue_result(api, _issue(key), {"comments": [said], "total": 1}, at_home=is_home(call, name))


def create_issue(api: JiraApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """An issue that was created nowhere."""
    number = digits(arguments, 5)
    return created(api, {"key": f"{arguments.project.upper()}-{number}", "id": number})


def add_comment(call: Call, arguments: AddComment) -> ToolResult:
    """A comment that nobody reads."""
    issue_name(call, arguments.issue)
    return commented({"id": digits(arguments, 5)})


def transition_issue(call: Call, arguments: TransitionIssue) -> ToolResult:
    """An issue that has the status that was asked for."""
    return moved(issue_name(call, arguments.issue), " ".join(arguments.status.split()))


def link_url(call: Call, arguments: LinkUrl) -> ToolResult:
    """A link that is nowhere."""
    issue_name(call, arguments.issue)
    check_url(arguments)
    return LINKED


def _issue(key: str, summary: str = "Something to do", status: str = "", kind: str = "") -> Fields:
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
        "description": _text("What has to be done stands here."),
        "attachment": [],
        "security": None,
    }
    return {"key": key, "id": digits(key, 5), "fields": fields}


def _text(words: str) -> Fields:
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": words}]}
    return {"version": 1, "type": "doc", "content": [paragraph]}
