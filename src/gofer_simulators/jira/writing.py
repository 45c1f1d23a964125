"""The resources of Jira's REST API that write issues, and their refusals.

Each field is checked by itself, so that a refusal names every wrong field.
"""

from collections.abc import Mapping

import gofer_simulators.jira.shapes as shapes
from gofer_simulators.jira.adf import mistake_in_document, plain
from gofer_simulators.jira.api_request import INVALID, ApiRequest
from gofer_simulators.jira.own_fields import NOT_A_DOCUMENT, OFF_SCREEN, mistakes
from gofer_simulators.jira.people import NewIssue
from gofer_simulators.jira.searching import Answer
from gofer_simulators.jira.site import IssueType, JiraRefusal, Project
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of, texts

TOO_LONG = "The entered text is too long. It exceeds the allowed limit of 32,767 characters."
LONGEST_TEXT = 32_767
LONGEST_SUMMARY = 255
LONGEST_LABEL = 255
LONGEST_PROPERTY = 32_768
_EDITABLE = frozenset({"summary", "description", "labels", "assignee", "priority"})


def create_issue(request: ApiRequest) -> Answer:
    """Answer POST /issue."""
    body = request.fields("fields", "update", "properties", "historyMetadata", "transition")
    fields = object_of(body, "fields")
    project, kind = _project_and_type(request, fields)
    own = {field.id for field in kind.fields}
    screen = (_EDITABLE | {"project", "issuetype", *kind.required, *own}).difference(kind.without)
    errors = _field_mistakes(request, fields, screen) | mistakes(request.site, kind.fields, fields, fields)
    if not text_of(fields, "summary").strip():
        errors.setdefault("summary", "You must specify a summary of the issue.")
    errors |= {name: f"{name.capitalize()} is required." for name in kind.required if not fields.get(name)}
    if errors:
        raise JiraRefusal(400, errors=errors)
    new = NewIssue(
        project=project.key,
        type=kind.name,
        summary=text_of(fields, "summary").strip(),
        description=object_of(fields, "description") or None,
        labels=tuple(texts(fields.get("labels"))),
        assignee=text_of(object_of(fields, "assignee"), "accountId"),
        priority=_priority(request, fields),
        properties=_properties(body),
        own={name: value for name, value in fields.items() if name in own},
    )
    issue = request.people.create(request.site.account, new)
    return 201, {"id": issue.id, "key": issue.key, "self": f"{request.site.url}/rest/api/3/issue/{issue.id}"}


def edit_issue(request: ApiRequest) -> Answer:
    """Answer PUT /issue/{issue}, which sets fields and adds or removes labels."""
    issue = request.site.issue(request.path["issue"])
    body = request.fields("fields", "update", "properties", "historyMetadata")
    fields = object_of(body, "fields")
    update = object_of(body, "update")
    errors = _field_mistakes(request, fields, _EDITABLE)
    errors |= {name: OFF_SCREEN.format(name) for name in update if name != "labels"}
    if "summary" in fields and not text_of(fields, "summary").strip():
        errors["summary"] = "You must specify a summary of the issue."
    if errors:
        raise JiraRefusal(400, errors=errors)
    labels = list(issue.labels)
    if "labels" in fields:
        labels = texts(fields["labels"])
    for change in objects(update.get("labels")):
        labels = [label for label in labels if label != change.get("remove")]
        labels += [added for added in texts([change.get("add")]) if added not in labels]
    changes: dict[str, object] = {"labels": tuple(labels)}
    if "summary" in fields:
        changes["summary"] = text_of(fields, "summary").strip()
    if "description" in fields:
        changes["description"] = object_of(fields, "description") or None
    if "assignee" in fields:
        changes["assignee"] = text_of(object_of(fields, "assignee"), "accountId")
    if "priority" in fields:
        changes["priority"] = _priority(request, fields) or request.site.names.priority
    after = request.people.edit(request.site.account, issue, **changes)
    if request.query.get("returnIssue") == "true":
        return 200, shapes.issue_json(request.site, after, ["*all"])
    return 204, None


def add_comment(request: ApiRequest) -> Answer:
    """Answer POST /issue/{issue}/comment."""
    issue = request.site.issue(request.path["issue"])
    body = request.fields("body", "visibility", "properties", "parentId")
    if not is_object(body.get("body")):
        raise JiraRefusal(400, errors={"comment": "Comment body is not valid!"})
    if mistake := _document_mistake(body["body"]):
        raise JiraRefusal(400, mistake)
    written = object_of(body, "body")
    if not plain(written).strip():
        raise JiraRefusal(400, errors={"comment": "Comment body can not be empty!"})
    visible_to = object_of(body, "visibility")
    visibility = text_of(visible_to, "value")
    if visible_to.get("type") == "role" and visibility not in request.site.names.roles:
        sentence = f"You are currently not a member of the project role: {visibility}."
        raise JiraRefusal(400, errors={"commentLevel": sentence})
    comment = request.people.comment(request.site.account, issue, written, visibility, _properties(body))
    return 201, shapes.comment(request.site, request.site.issue(issue.id), comment)


def _project_and_type(request: ApiRequest, fields: JsonObject) -> tuple[Project, IssueType]:
    """Return the project and the type of a new issue. Raises JiraRefusal(400)."""
    wanted = object_of(fields, "project")
    project = request.site.project(text_of(wanted, "key") or text_of(wanted, "id"))
    if project is None:
        raise JiraRefusal(400, errors={"project": "Specify a valid project ID or key"})
    chosen = object_of(fields, "issuetype")
    sought = (text_of(chosen, "id"), text_of(chosen, "name"))
    kind = next((one for one in project.types if one.id == sought[0] or one.name == sought[1]), None)
    if kind is None:
        raise JiraRefusal(400, errors={"issuetype": "Specify a valid issue type"})
    return project, kind


def _field_mistakes(request: ApiRequest, fields: JsonObject, known: frozenset[str]) -> dict[str, str]:
    """Return the mistakes of a request, by field."""
    errors = {name: OFF_SCREEN.format(name) for name in fields if name not in known}
    summary = fields.get("summary")
    assignee = fields.get("assignee")
    if summary is not None and (not isinstance(summary, str) or "\n" in summary):
        errors["summary"] = "The summary is invalid because it contains newline characters."
    elif isinstance(summary, str) and len(summary) > LONGEST_SUMMARY:
        errors["summary"] = "Summary can't exceed 255 characters."
    if fields.get("description") is not None and (mistake := _document_mistake(fields["description"])):
        errors["description"] = mistake
    if "labels" in fields and (mistake := _labels_mistake(fields["labels"])):
        errors["labels"] = mistake
    if assignee is not None and text_of(object_of(fields, "assignee"), "accountId") not in request.site.users:
        errors["assignee"] = "Specify a valid value for assignee"
    if fields.get("priority") is not None and not _priority(request, fields):
        errors["priority"] = "The priority selected is invalid."
    return errors


def _priority(request: ApiRequest, fields: JsonObject) -> str:
    """Return the name of the priority in `fields`, given by id or name; empty for an unknown priority."""
    chosen = object_of(fields, "priority")
    known = request.site.names.priorities
    by_id = {str(number): name for number, name in enumerate(known, 1)}
    wanted = by_id.get(text_of(chosen, "id"), text_of(chosen, "name"))
    return next((name for name in known if name == wanted), "")


def _document_mistake(value: object) -> str:
    if not is_object(value) or value.get("type") != "doc":
        return NOT_A_DOCUMENT
    if mistake_in_document(value):
        return "INVALID_INPUT"
    if len(plain(value)) > LONGEST_TEXT:
        return TOO_LONG
    return ""


def _labels_mistake(value: object) -> str:
    if not is_array(value) or len(texts(value)) < len(value):
        return "data was not an array"
    for label in texts(value):
        if not label or len(label) > LONGEST_LABEL or any(letter.isspace() for letter in label):
            return f"The label '{label}' contains spaces which is invalid."
    return ""


def _properties(body: JsonObject) -> Mapping[str, object]:
    """Return the properties of a new issue or comment. Raises JiraRefusal(400)."""
    given = body.get("properties", [])
    if not is_array(given) or any(not text_of(one, "key") or "value" not in one for one in objects(given)):
        raise JiraRefusal(400, INVALID)
    if len(str(given)) > LONGEST_PROPERTY:
        raise JiraRefusal(400, "The property value is too long.")
    return {text_of(one, "key"): one["value"] for one in objects(given)}
