"""Jira's objects as JSON: version 3 for the API, version 2 for webhooks."""

from collections.abc import Sequence
from datetime import UTC, datetime

from gofer_simulators.jira.adf import document, plain
from gofer_simulators.jira.delivery import Flavour
from gofer_simulators.jira.site import Attachment, Comment, Issue, IssueType, Project, RemoteLink, Site, User
from gofer_simulators.json_values import object_of

Json = dict[str, object]


def moment(seconds: float) -> str:
    """Return a time as Jira writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")


def user(site: Site, account_id: str, flavour: Flavour = "cloud") -> Json | None:
    """Return a user, or None for an unknown account. E-mail addresses are hidden, as in most profiles."""
    known = site.users.get(account_id)
    if known:
        return person(site, known, flavour)
    return None


def person(site: Site, known: User, flavour: Flavour = "cloud") -> Json:
    """Return a user. Data Center shows neither the accountId nor whether the user is an app."""
    shown: Json = {"displayName": known.name, "active": known.active, "timeZone": "Etc/UTC"}
    if flavour == "server":
        address = f"{site.url}/rest/api/2/user?username={known.handle}"
        return shown | {"self": address, "key": server_key(known), "name": known.handle}
    address = f"{site.url}/rest/api/3/user?accountId={known.account_id}"
    kind = "atlassian"
    if known.app:
        kind = "app"
    if known.customer:
        kind = "customer"
    return shown | {"self": address, "accountId": known.account_id, "accountType": kind}


def server_key(known: User) -> str:
    """Return the key of a user on Data Center."""
    return f"JIRAUSER{known.handle}"


def project(site: Site, known: Project) -> Json:
    """Return a project in its short form."""
    address = f"{site.url}/rest/api/3/project/{known.id}"
    kind = "service_desk" if known.service else "software"
    return {"self": address, "id": known.id, "key": known.key, "name": known.name, "projectTypeKey": kind}


def issue_type(site: Site, known: IssueType) -> Json:
    """Return a type of issue."""
    address = f"{site.url}/rest/api/3/issuetype/{known.id}"
    return {"self": address, "id": known.id, "name": known.name, "subtask": False, "hierarchyLevel": 0}


def status(site: Site, known: Project, name: str) -> Json:
    """Return a status; its id follows from its position in the workflow."""
    index = known.statuses.index(name)
    category = "indeterminate"
    if index == 0:
        category = "new"
    elif index == len(known.statuses) - 1:
        category = "done"
    return {"id": str(3 + index), "name": name, "statusCategory": {"key": category}}


def priority(site: Site, name: str) -> Json:
    """Return a priority; its id is its position in the site's list."""
    id_ = str(site.names.priorities.index(name) + 1)
    return {"self": f"{site.url}/rest/api/3/priority/{id_}", "id": id_, "name": name}


def comment(site: Site, issue: Issue, one: Comment, *, properties: bool = False) -> Json:
    """Return a comment in version 3."""
    shown: Json = {
        "self": f"{site.url}/rest/api/3/issue/{issue.id}/comment/{one.id}",
        "id": one.id,
        "author": user(site, one.author),
        "updateAuthor": user(site, one.author),
        "body": one.body,
        "created": moment(one.created),
        "updated": moment(one.created),
        "jsdPublic": object_of(one.properties, "sd.public.comment").get("internal") is not True,
    }
    if one.visibility:
        shown["visibility"] = {"type": "role", "value": one.visibility, "identifier": one.visibility}
    if properties:
        shown["properties"] = [{"key": key, "value": value} for key, value in one.properties.items()]
    return shown


def comment_in_a_webhook(site: Site, issue: Issue, one: Comment, flavour: Flavour) -> Json:
    """Return a comment in version 2, with its body as wiki markup or, at some sites, as a document."""
    shown = comment(site, issue, one)
    body: object = plain(one.body)
    if site.sends_documents:
        body = one.body
    address = f"{site.url}/rest/api/2/issue/{issue.id}/comment/{one.id}"
    people: Json = {key: user(site, one.author, flavour) for key in ("author", "updateAuthor")}
    return shown | people | {"self": address, "body": body}


def attachment(site: Site, one: Attachment, flavour: Flavour = "cloud") -> Json:
    """Return the description of a file, without its bytes."""
    return {
        "self": f"{site.url}/rest/api/3/attachment/{one.id}",
        "id": one.id,
        "filename": one.filename,
        "author": user(site, one.author, flavour),
        "created": moment(one.created),
        "size": one.size,
        "mimeType": one.mime_type,
        "content": f"{site.url}/rest/api/3/attachment/content/{one.id}",
    }


def remote_link(site: Site, issue: Issue, one: RemoteLink) -> Json:
    """Return a link to an address outside Jira."""
    address = f"{site.url}/rest/api/3/issue/{issue.id}/remotelink/{one.id}"
    return {"id": one.id, "self": address, "globalId": one.global_id, "object": {"url": one.url, "title": one.title}}


def fields(site: Site, issue: Issue, flavour: Flavour = "cloud") -> Json:
    """Return every field of an issue in version 3."""
    own = site.projects[issue.project]
    kind = next(one for one in own.types if one.name == issue.type)
    return {
        "summary": issue.summary,
        "description": issue.description,
        "issuetype": issue_type(site, kind),
        "project": project(site, own),
        "status": status(site, own, issue.status),
        "priority": priority(site, issue.priority),
        "labels": list(issue.labels),
        "assignee": user(site, issue.assignee, flavour),
        "reporter": user(site, issue.reporter, flavour),
        "creator": user(site, issue.creator, flavour),
        "created": moment(issue.created),
        "updated": moment(issue.updated),
        "security": {"id": "10021", "name": issue.security} if issue.security else None,
        "attachment": [attachment(site, one, flavour) for one in issue.attachments],
        "issuelinks": [{"type": {"name": name}, "outwardIssue": {"key": key}} for name, key in issue.links],
        **issue.own,
    }


def issue_json(site: Site, issue: Issue, wanted: Sequence[str], properties: Sequence[str] = ()) -> Json:
    """Return an issue with the wanted fields and properties."""
    known = fields(site, issue)
    known["comment"] = _first_comments(site, issue)
    everything = "*all" in wanted or "*navigable" in wanted
    without = {name[1:] for name in wanted if name.startswith("-")}
    chosen = {name: value for name, value in known.items() if (everything or name in wanted) and name not in without}
    shown: Json = {"id": issue.id, "key": issue.key, "self": f"{site.url}/rest/api/3/issue/{issue.id}"}
    if chosen:
        shown["fields"] = chosen
    if properties:
        shown["properties"] = {name: issue.properties[name] for name in properties if name in issue.properties}
    return shown


def issue_in_a_webhook(site: Site, issue: Issue, flavour: Flavour, *, shortened: bool = False) -> Json:
    """Return an issue in version 2; the short form, for events about comments, has only a few fields."""
    known = fields(site, issue, flavour)
    if issue.description:
        known["description"] = plain(issue.description)
    else:
        known["description"] = None
    if shortened:
        known = {name: known[name] for name in ("summary", "issuetype", "project", "assignee", "priority", "status")}
    return {"id": issue.id, "key": issue.key, "self": f"{site.url}/rest/api/2/{issue.id}", "fields": known}


def _first_comments(site: Site, issue: Issue) -> Json:
    """Return the value of the field `comment`: the first page of comments."""
    shown = [comment(site, issue, one) for one in issue.comments]
    return {"comments": shown, "maxResults": len(shown), "total": len(shown), "startAt": 0}


def state(site: Site) -> Json:
    """Return the issues by key in plain JSON, without ids and times."""
    return {issue.key: _issue_state(issue) for issue in sorted(site.all_issues(), key=_place)}


def _place(issue: Issue) -> tuple[str, int]:
    return issue.project, int(issue.key.rpartition("-")[2])


def _issue_state(issue: Issue) -> Json:
    shown: Json = {
        "summary": issue.summary,
        "type": issue.type,
        "status": issue.status,
        "reporter": issue.reporter,
        "assignee": issue.assignee,
        "labels": list(issue.labels),
        "description": plain(issue.description or document("")),
        "security": issue.security,
        "comments": [{"author": one.author, "body": plain(one.body)} for one in issue.comments],
        "attachments": [one.filename for one in issue.attachments],
        "remote_links": [{"url": one.url, "title": one.title} for one in issue.remote_links],
        "links": [{"type": name, "issue": key} for name, key in issue.links],
        "fields": dict(issue.own),
    }
    return {key: value for key, value in shown.items() if value}
