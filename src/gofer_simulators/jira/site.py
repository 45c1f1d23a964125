"""The state of the simulated Jira site.

Values are frozen and replaced. The site keeps every state of an issue with its time, because the search index lags
behind.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gofer_simulators.json_values import JsonObject

NO_ISSUE = "Issue does not exist or you do not have permission to see it."
FIRST_ID = 10_000


class JiraRefusal(Exception):
    """A refusal of Jira: a status, messages, and messages by field."""

    def __init__(self, status: int, *messages: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__("; ".join([*messages, *(errors or {}).values()]))
        self.status = status
        self.messages = messages
        self.errors = dict(errors or {})


@dataclass(frozen=True, slots=True)
class User:
    """The account of a person or an app."""

    account_id: str
    name: str
    email: str = ""
    app: bool = False
    customer: bool = False
    """Whether the account only has the portal of a service project."""
    active: bool = True

    @property
    def handle(self) -> str:
        """The user name on Data Center."""
        return "".join(self.name.lower().split())


@dataclass(frozen=True, slots=True)
class OwnField:
    """A field that a company added to a form, or one of Jira's that only this form has."""

    id: str
    name: str
    schema: JsonObject
    """The type, as Jira describes it."""
    required: bool = False
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueType:
    """A type of issue; `required` are the fields that a new issue needs besides the summary."""

    id: str
    name: str
    required: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """The fields that its form does not have."""
    fields: tuple[OwnField, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its workflow."""

    id: str
    key: str
    name: str
    types: tuple[IssueType, ...]
    statuses: tuple[str, ...]
    """The statuses in the order of the board; a new issue has the first."""
    moves: Mapping[str, tuple[str, ...]]
    """For a status, the statuses that may follow; a status without an entry may change to any other."""
    hidden: bool = False
    """Whether Gofer's account may not see it."""
    screens: Mapping[str, tuple[OwnField, ...]] = field(default_factory=dict[str, tuple[OwnField, ...]])
    """For a status, the form of the steps to it."""
    service: bool = False
    """Whether it is a service project with customers."""

    def next_statuses(self, status: str) -> tuple[str, ...]:
        """Return the statuses that may follow a status."""
        return self.moves.get(status, tuple(other for other in self.statuses if other != status))


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a site's priorities, link types and roles; other names are refused."""

    priorities: tuple[str, ...] = ("Highest", "High", "Medium", "Low", "Lowest")
    link_types: tuple[str, ...] = ("Blocks", "Cloners", "Duplicate", "Relates")
    roles: tuple[str, ...] = ("Administrators", "Developers", "Service Desk Team")
    """The project roles of the token's account."""

    @property
    def priority(self) -> str:
        """The default priority of a new issue: Medium, or the first of the site."""
        return next((name for name in self.priorities if name == "Medium"), self.priorities[0])


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue."""

    id: str
    author: str
    body: JsonObject
    created: float
    visibility: str = ""
    """The role that may read the comment; empty for all readers of the issue."""
    properties: JsonObject = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to an issue."""

    id: str
    filename: str
    author: str
    size: int
    created: float
    content: bytes = b""
    mime_type: str = "application/octet-stream"

    @property
    def signature(self) -> str:
        """The token in the file's address on the media host, which replaces an account."""
        return hashlib.sha256(f"{self.id}/{self.filename}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RemoteLink:
    """A link to an address outside Jira; `global_id` identifies the link within its issue."""

    id: int
    global_id: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Issue:
    """The state of an issue at one time."""

    id: str
    key: str
    project: str
    type: str
    status: str
    summary: str
    creator: str
    reporter: str
    created: float
    updated: float
    description: JsonObject | None = None
    labels: tuple[str, ...] = ()
    assignee: str = ""
    priority: str = "Medium"
    security: str = ""
    """The name of the security level; empty for none."""
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    remote_links: tuple[RemoteLink, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Link type and key of each linked issue."""
    own: JsonObject = field(default_factory=dict[str, object])
    """The values of own fields, as requests set them."""
    properties: JsonObject = field(default_factory=dict[str, object])


class Site:
    """The state of one simulated site."""

    def __init__(self, name: str, account: str, search_lag: float, clock: Callable[[], float]) -> None:
        self.name = name
        self.account = account
        """The id of the token's account."""
        self.search_lag = search_lag
        """Seconds until the search index contains a change."""
        self.clock = clock
        self.users: dict[str, User] = {}
        self.names = Names()
        self.projects: dict[str, Project] = {}
        self.sends_documents = False
        """Whether webhooks hold comments as documents, as some do, instead of as wiki markup."""
        self._states: dict[str, list[tuple[float, Issue]]] = {}
        self._ids = FIRST_ID
        self._numbers: dict[str, int] = {}

    @property
    def url(self) -> str:
        """The address of the site."""
        return f"https://{self.name}.atlassian.net"

    def new_id(self) -> str:
        """Return a new id, higher than all earlier ids."""
        self._ids += 1
        return str(self._ids)

    def new_key(self, project: str) -> str:
        """Return the next key of a project."""
        number = self._numbers.get(project, 0) + 1
        self.reserve(f"{project}-{number}")
        return f"{project}-{number}"

    def reserve(self, key: str) -> None:
        """Reserve the number of a key: later issues of the project get higher numbers."""
        project, _, number = key.rpartition("-")
        self._numbers[project] = max(int(number), self._numbers.get(project, 0))

    def put(self, issue: Issue, at: float | None = None) -> Issue:
        """Store a new state of an issue; `at` is its time, by default now."""
        self._states.setdefault(issue.id, []).append((self.clock() if at is None else at, issue))
        return issue

    def remove(self, issue: Issue) -> None:
        """Delete an issue with its comments and files."""
        self._states.pop(issue.id, None)

    def all_issues(self) -> list[Issue]:
        """Return the current state of all issues, oldest first."""
        return [states[-1][1] for states in self._states.values()]

    def visible(self, issues: Iterable[Issue]) -> list[Issue]:
        """Return the issues that the token's account may see."""
        return [issue for issue in issues if not self.projects[issue.project].hidden]

    def indexed(self, reconcile: frozenset[str]) -> list[Issue]:
        """Return the visible issues as the search index has them, and those in `reconcile` in their current state."""
        known = self.clock() - self.search_lag
        found: list[Issue] = []
        for name, states in self._states.items():
            old = [issue for at, issue in states if at <= known or name in reconcile]
            found += old[-1:]
        return self.visible(found)

    def find(self, id_or_key: str) -> Issue | None:
        """Return the visible issue with this id or key, or None."""
        wanted = id_or_key.upper()
        return next((issue for issue in self.visible(self.all_issues()) if wanted in (issue.id, issue.key)), None)

    def issue(self, id_or_key: str) -> Issue:
        """Return the visible issue with this id or key. Raises JiraRefusal(404), also for a hidden issue."""
        found = self.find(id_or_key)
        if found is None:
            raise JiraRefusal(404, NO_ISSUE)
        return found

    def attachment(self, id_: str) -> Attachment:
        """Return the file with this id at a visible issue. Raises JiraRefusal(404)."""
        for issue in self.visible(self.all_issues()):
            for one in issue.attachments:
                if one.id == id_:
                    return one
        raise JiraRefusal(404, f"The attachment with id '{id_}' does not exist")

    def project(self, id_or_key: str) -> Project | None:
        """Return the visible project with this id or key, or None."""
        known = (project for project in self.projects.values() if not project.hidden)
        return next((project for project in known if id_or_key in (project.id, project.key)), None)
