"""The actions of people on the simulated Jira site, and the events for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import gofer_simulators.jira.shapes as shapes
from gofer_simulators.jira.adf import document, plain
from gofer_simulators.jira.delivery import Deliveries
from gofer_simulators.jira.site import Attachment, Comment, Issue, JiraRefusal, RemoteLink, Site
from gofer_simulators.json_values import JsonObject

Item = dict[str, object]


@dataclass(frozen=True, slots=True)
class NewIssue:
    """The checked fields of a new issue."""

    project: str
    type: str
    summary: str
    description: JsonObject | None = None
    labels: tuple[str, ...] = ()
    assignee: str = ""
    priority: str = ""
    """Default: the site's default priority."""
    security: str = ""
    properties: Mapping[str, object] | None = None
    own: Mapping[str, object] | None = None
    """The values of own fields."""


class People:
    """The changes that people make to the site."""

    def __init__(self, site: Site, deliveries: Deliveries) -> None:
        self._site = site
        self._deliveries = deliveries

    def create(self, account: str, new: NewIssue) -> Issue:
        """Create an issue; without an account as from a form, which names no person.

        Raises ValueError for an unknown account and KeyError for an unknown project.
        """
        if account:
            self._require_user(account)
        project = self._site.projects[new.project]
        now = self._site.clock()
        issue = Issue(
            id=self._site.new_id(),
            key=self._site.new_key(project.key),
            project=project.key,
            type=new.type,
            status=project.statuses[0],
            summary=new.summary,
            creator=account,
            reporter=account,
            created=now,
            updated=now,
            description=new.description,
            labels=new.labels,
            assignee=new.assignee,
            priority=new.priority or self._site.names.priority,
            security=new.security,
            properties=dict(new.properties or {}),
            own=dict(new.own or {}),
        )
        self._site.put(issue)
        self._announce("jira:issue_created", "issue_created", account, issue, [])
        return issue

    def edit(self, account: str, issue: Issue, **changes: object) -> Issue:
        """Change fields of an issue, by the names of `Issue`. Jira sends no event if nothing changed."""
        self._require_user(account)
        after = replace(issue, **changes)
        items = self._changelog_items(issue, after)
        if not items:
            return self._site.put(after)
        after = self._site.put(replace(after, updated=self._site.clock()))
        name = "issue_updated"
        if "status" in changes:
            name = "issue_generic"
        self._announce("jira:issue_updated", name, account, after, items)
        return after

    def move(self, account: str, issue: Issue, status: str, own: Mapping[str, object] | None = None) -> Issue:
        """Move an issue to another status, with values of its own fields.

        Raises JiraRefusal if the project's workflow does not allow the move.
        """
        if status not in self._site.projects[issue.project].next_statuses(issue.status):
            raise JiraRefusal(400, "It seems that you have tried to perform an illegal workflow operation.")
        return self.edit(account, issue, status=status, own={**issue.own, **(own or {})})

    def comment(
        self,
        account: str,
        issue: Issue,
        body: str | JsonObject,
        visibility: str = "",
        properties: Mapping[str, object] | None = None,
    ) -> Comment:
        """Comment on an issue, with a plain text or a document."""
        self._require_user(account)
        if isinstance(body, str):
            body = document(body)
        now = self._site.clock()
        comment = Comment(self._site.new_id(), account, body, now, visibility, dict(properties or {}))
        after = self._site.put(replace(issue, comments=(*issue.comments, comment), updated=now))
        shown = shapes.comment_in_a_webhook(self._site, after, comment, self._deliveries.flavour)
        payload: dict[str, object] = {"webhookEvent": "comment_created", "comment": shown}
        # Data Center leaves the issue out. The address of the comment contains the id of the issue.
        if self._deliveries.flavour == "cloud":
            payload["issue"] = shapes.issue_in_a_webhook(self._site, after, "cloud", shortened=True)
        self._deliveries.announce(payload)
        self._announce("jira:issue_updated", "issue_commented", account, after, [])
        return comment

    def attach(
        self,
        account: str,
        issue: Issue,
        filename: str,
        content: bytes = b"x",
        mime_type: str = "application/octet-stream",
    ) -> Attachment:
        """Attach a file to an issue. Jira sends two events for this."""
        self._require_user(account)
        now = self._site.clock()
        one = Attachment(
            id=self._site.new_id(),
            filename=filename,
            author=account,
            size=len(content),
            created=now,
            content=content,
            mime_type=mime_type,
        )
        after = self._site.put(replace(issue, attachments=(*issue.attachments, one), updated=now))
        shown = shapes.attachment(self._site, one, self._deliveries.flavour)
        self._deliveries.announce({"webhookEvent": "attachment_created", "attachment": shown})
        item = _item("Attachment", ("", ""), (one.id, filename))
        self._announce("jira:issue_updated", "issue_updated", account, after, [item])
        return one

    def detach(self, issue: Issue, attachment: str) -> None:
        """Delete an attached file. The simulator sends no event."""
        left = tuple(one for one in issue.attachments if one.id != attachment)
        self._site.put(replace(issue, attachments=left, updated=self._site.clock()))

    def delete(self, issue: Issue, comment: str = "") -> None:
        """Delete an issue or, with its id, one of its comments. The simulator sends no event."""
        if not comment:
            self._site.remove(issue)
            return
        left = tuple(one for one in issue.comments if one.id != comment)
        self._site.put(replace(issue, comments=left, updated=self._site.clock()))

    def link_url(self, issue: Issue, global_id: str, url: str, title: str) -> tuple[RemoteLink, bool]:
        """Link an issue to an address outside Jira. Return the link and whether it is new.

        A link with the same global id is replaced.
        """
        same = next((one for one in issue.remote_links if global_id and one.global_id == global_id), None)
        if same:
            number = same.id
        else:
            number = int(self._site.new_id())
        link = RemoteLink(number, global_id=global_id or f"id={number}", url=url, title=title)
        others = tuple(one for one in issue.remote_links if one is not same)
        self._site.put(replace(issue, remote_links=(*others, link)))
        return link, same is None

    def set_property(self, issue: Issue, name: str, value: object) -> bool:
        """Set a property of an issue. Return whether the property is new."""
        self._site.put(replace(issue, properties={**issue.properties, name: value}))
        return name not in issue.properties

    def _changelog_items(self, before: Issue, after: Issue) -> list[Item]:
        found: list[Item] = []
        for name in ("summary", "description", "priority", "status", "labels", "assignee"):
            old = self._changelog_value(before, name)
            new = self._changelog_value(after, name)
            if old != new:
                found.append(_item(name, old, new))
        return found

    def _changelog_value(self, issue: Issue, name: str) -> tuple[str, str]:
        """Return the id and the text of a field, as a changelog shows them."""
        match name:
            case "description":
                return "", plain(issue.description or {})
            case "status":
                shown = shapes.status(self._site, self._site.projects[issue.project], issue.status)
                return str(shown["id"]), issue.status
            case "labels":
                return "", " ".join(issue.labels)
            case "assignee":
                assignee = self._site.users.get(issue.assignee)
                if assignee is None:
                    return issue.assignee, ""
                return issue.assignee, assignee.name
            case _:
                return "", str(getattr(issue, name))

    def _announce(self, event: str, name: str, account: str, issue: Issue, items: Sequence[Item]) -> None:
        flavour = self._deliveries.flavour
        payload: dict[str, object] = {
            "webhookEvent": event,
            "issue_event_type_name": name,
            "user": shapes.user(self._site, account, flavour),
            "issue": shapes.issue_in_a_webhook(self._site, issue, flavour),
        }
        if items:
            payload["changelog"] = {"id": self._site.new_id(), "items": list(items)}
        self._deliveries.announce(payload)

    def _require_user(self, account: str) -> None:
        if account not in self._site.users:
            raise ValueError(f"The simulated Jira has no user {account!r}.")


def _item(field: str, before: tuple[str, str], after: tuple[str, str]) -> Item:
    return {
        "field": field,
        "fieldtype": "jira",
        "fieldId": field.lower(),
        "from": before[0] or None,
        "fromString": before[1] or None,
        "to": after[0] or None,
        "toString": after[1] or None,
    }
