"""The state of the simulated Jira site.

Values are frozen and replaced; each state of an issue is kept with its moment, because the search index lags behind.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gofer_simulators.json_values import JsonObject

NO_ISSUE = "Issue does not exist or you do not have permission to see it."
FIRST_ID = 10_000


class JiraRefusal(Exception):
    """Jira says no: a status, messages, and messages by field."""

    def __init__(self, status: int, *messages: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__("; ".join([*messages, *(errors or {}).values()]))
        self.status = status
        self.messages = messages
        self.errors = dict(errors or {})


@dataclass(frozen=True, slots=True)
class User:
    """A person, or an app's account."""

    account_id: str
    name: str
    email: str = ""
    app: bool = False
    active: bool = True

    @property
    def handle(self) -> str:
        """The name Data Center knows this person by."""
        return "".join(self.name.lower().split())


@dataclass(frozen=True, slots=True)
class IssueType:
    """A kind of issue, and the fields a new one must have beside the summary."""

    id: str
    name: str
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its workflow."""

    id: str
    key: str
    name: str
    types: tuple[IssueType, ...]
    statuses: tuple[str, ...]
    """In the order of the board; new issues have the first."""
    moves: Mapping[str, tuple[str, ...]]
    """From a status to those that may follow; a status that is not a key may become any other."""
    hidden: bool = False
    """Whether Gofer's account may not see it."""

    def next_statuses(self, status: str) -> tuple[str, ...]:
        """Return the statuses an issue can go to from here."""
        return self.moves.get(status, tuple(other for other in self.statuses if other != status))


@dataclass(frozen=True, slots=True)
class Names:
    """What a site calls its choices; every other name is refused."""

    priorities: tuple[str, ...] = ("Highest", "High", "Medium", "Low", "Lowest")
    link_types: tuple[str, ...] = ("Blocks", "Cloners", "Duplicate", "Relates")
    resolutions: tuple[str, ...] = ("Done", "Won't Do", "Duplicate", "Cannot Reproduce")
    roles: tuple[str, ...] = ("Administrators", "Developers", "Service Desk Team")
    """The project roles that the token's account is a member of."""

    @property
    def priority(self) -> str:
        """The priority of an issue that names none."""
        return next((name for name in self.priorities if name == "Medium"), self.priorities[0])


@dataclass(frozen=True, slots=True)
class Comment:
    """A text under an issue."""

    id: str
    author: str
    body: JsonObject
    created: float
    visibility: str = ""
    """The role that may read it; empty for everybody."""
    properties: JsonObject = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file at an issue."""

    id: str
    filename: str
    author: str
    size: int
    created: float
    content: bytes = b""
    mime_type: str = "application/octet-stream"

    @property
    def signature(self) -> str:
        """The part of its address that lets a reader in without an account."""
        return hashlib.sha256(f"{self.id}/{self.filename}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RemoteLink:
    """A link to something outside; `global_id` is its identity at an issue."""

    id: int
    global_id: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One state of one issue."""

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
    """The name of its security level; empty for none."""
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    remote_links: tuple[RemoteLink, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Type and key of the issues it points to."""
    properties: JsonObject = field(default_factory=dict[str, object])


class Site:
    """The state of one simulated site."""

    def __init__(self, name: str, account: str, search_lag: float, clock: Callable[[], float]) -> None:
        self.name = name
        self.account = account
        """The account that the API token belongs to."""
        self.search_lag = search_lag
        """Seconds until the search index knows a change."""
        self.clock = clock
        self.users: dict[str, User] = {}
        self.names = Names()
        self.projects: dict[str, Project] = {}
        self._states: dict[str, list[tuple[float, Issue]]] = {}
        self._ids = FIRST_ID
        self._numbers: dict[str, int] = {}

    @property
    def url(self) -> str:
        """The address of the site."""
        return f"https://{self.name}.atlassian.net"

    def new_id(self) -> str:
        """Return a fresh id; ids grow."""
        self._ids += 1
        return str(self._ids)

    def new_key(self, project: str) -> str:
        """Return the next key of a project."""
        number = self._numbers.get(project, 0) + 1
        self.taken(f"{project}-{number}")
        return f"{project}-{number}"

    def taken(self, key: str) -> None:
        """No later issue of the project gets this number or a smaller one."""
        project, _, number = key.rpartition("-")
        self._numbers[project] = max(int(number), self._numbers.get(project, 0))

    def put(self, issue: Issue, at: float | None = None) -> Issue:
        """Store a state of an issue; it replaces the one before."""
        self._states.setdefault(issue.id, []).append((self.clock() if at is None else at, issue))
        return issue

    def all_issues(self) -> list[Issue]:
        """Return the issues as they are now, oldest first."""
        return [states[-1][1] for states in self._states.values()]

    def visible(self, issues: Iterable[Issue]) -> list[Issue]:
        """Return those the token's account may see."""
        return [issue for issue in issues if not self.projects[issue.project].hidden]

    def indexed(self, reconcile: frozenset[str]) -> list[Issue]:
        """Return the issues as the search index knows them; those to reconcile as they are now."""
        known = self.clock() - self.search_lag
        found: list[Issue] = []
        for name, states in self._states.items():
            old = [issue for at, issue in states if at <= known or name in reconcile]
            found += old[-1:]
        return self.visible(found)

    def find(self, id_or_key: str) -> Issue | None:
        """Return the issue with this id or key that the token's account may see."""
        wanted = id_or_key.upper()
        return next((issue for issue in self.visible(self.all_issues()) if wanted in (issue.id, issue.key)), None)

    def issue(self, id_or_key: str) -> Issue:
        """Return the same. Raises JiraRefusal(404): what may not be seen is not there."""
        found = self.find(id_or_key)
        if found is None:
            raise JiraRefusal(404, NO_ISSUE)
        return found

    def attachment(self, id_: str) -> Attachment:
        """Return the file with this id at an issue that may be seen. Raises JiraRefusal(404)."""
        for issue in self.visible(self.all_issues()):
            for one in issue.attachments:
                if one.id == id_:
                    return one
        raise JiraRefusal(404, f"The attachment with id '{id_}' does not exist")

    def project(self, id_or_key: str) -> Project | None:
        """Return the project with this id or key that the token's account may see."""
        known = (project for project in self.projects.values() if not project.hidden)
        return next((project for project in known if id_or_key in (project.id, project.key)), None)
