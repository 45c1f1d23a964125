"""The Jira site that a world file describes under its key `jira`."""

from collections.abc import Callable, Mapping

from pydantic import Base64Bytes, Field

from gofer_simulators.jira.adf import document
from gofer_simulators.jira.site import Attachment, Comment, Issue, IssueType, Names, OwnField, Project, Site, User
from gofer_simulators.world_file import Part, read_world, wrong

STATUSES = ("To Do", "In Progress", "Done")
MINUTE = 60.0
_NAMES = Names()


class _User(Part):
    account_id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    email: str = ""
    app: bool = False
    customer: bool = False
    active: bool = True


class _Field(Part):
    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    type: dict[str, str]
    """The schema of its type, as Jira describes it."""
    required: bool = False
    options: tuple[str, ...] = ()


class _Type(Part):
    name: str
    required: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """The fields that its form does not have, such as the description."""
    fields: tuple[_Field, ...] = ()


class _Project(Part):
    key: str = Field(pattern=r"^[A-Z][A-Z0-9_]+$")
    name: str
    issue_types: tuple[str | _Type, ...] = ("Task", "Bug")
    statuses: tuple[str, ...] = STATUSES
    moves: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    hidden: bool = False
    screens: dict[str, tuple[_Field, ...]] = Field(default_factory=dict[str, tuple[_Field, ...]])
    """For a status, the form of the steps to it."""
    service: bool = False


class _Comment(Part):
    author: str
    body: str
    visibility: str = ""
    minutes_ago: float = Field(default=30.0, ge=0)


class _Attachment(Part):
    filename: str = Field(min_length=1)
    author: str
    mime_type: str = "text/plain"
    text: str = ""
    content: Base64Bytes = b""
    """The content in base64, instead of `text`."""
    minutes_ago: float = Field(default=30.0, ge=0)


class _Issue(Part):
    key: str = Field(pattern=r"^[A-Z][A-Z0-9_]+-[1-9][0-9]*$")
    summary: str
    type: str = ""
    """Default: the first type of the project."""
    status: str = ""
    """Default: the first status of the project."""
    reporter: str
    assignee: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    priority: str = ""
    """Default: Medium, or the first of the site."""
    security: str = ""
    comments: tuple[_Comment, ...] = ()
    attachments: tuple[_Attachment, ...] = ()
    minutes_ago: float = Field(default=60.0, ge=0)


class _World(Part):
    site: str = Field(pattern=r"^[a-z0-9-]+$")
    account: str
    """The accountId of Gofer's API token."""
    webhook_secret: str = ""
    search_lag: float = Field(default=0.0, ge=0)
    """Seconds until the search index contains a change."""
    priorities: tuple[str, ...] = Field(default=_NAMES.priorities, min_length=1)
    link_types: tuple[str, ...] = _NAMES.link_types
    resolutions: tuple[str, ...] = ("Done", "Won't Do", "Duplicate", "Cannot Reproduce")
    """The values of each field for the resolution that names none."""
    roles: tuple[str, ...] = _NAMES.roles
    """The project roles of the account."""
    users: tuple[_User, ...]
    projects: tuple[_Project, ...]
    issues: tuple[_Issue, ...] = ()


def load_site(world: Mapping[str, object], clock: Callable[[], float]) -> tuple[Site, str]:
    """Return the site of a world and the secret of its webhook, empty if the world has none. Raises ConfigError."""
    read = read_world(_World, "jira", world)
    site = Site(read.site, read.account, read.search_lag, clock)
    site.names = Names(priorities=read.priorities, link_types=read.link_types, roles=read.roles)
    site.users.update({user.account_id: User(**user.model_dump()) for user in read.users})
    _require_user(site, read.account, "jira.account")
    for project in read.projects:
        site.projects[project.key] = _project(site, project, read.resolutions)
    for issue in read.issues:
        _add_issue(site, issue)
    return site, read.webhook_secret


def _project(site: Site, project: _Project, resolutions: tuple[str, ...]) -> Project:
    types = [_Type(name=one) if isinstance(one, str) else one for one in project.issue_types]
    return Project(
        id=site.new_id(),
        key=project.key,
        name=project.name,
        types=tuple(
            IssueType(site.new_id(), one.name, one.required, one.without, tuple(map(_field, one.fields)))
            for one in types
        ),
        statuses=project.statuses,
        moves=project.moves,
        hidden=project.hidden,
        screens={
            status: tuple(_field(one, resolutions) for one in fields) for status, fields in project.screens.items()
        },
        service=project.service,
    )


def _field(field: _Field, resolutions: tuple[str, ...] = ()) -> OwnField:
    options = field.options
    if field.id == "resolution":
        options = options or resolutions
    return OwnField(field.id, field.name, dict(field.type), required=field.required, options=options)


def _add_issue(site: Site, issue: _Issue) -> None:
    place = f"jira.issues {issue.key}"
    project = site.projects.get(issue.key.rpartition("-")[0])
    if project is None or any(issue.key == other.key for other in site.all_issues()):
        raise wrong(place, "its project is missing, or its key occurs twice")
    kind = issue.type or project.types[0].name
    status = issue.status or project.statuses[0]
    if kind not in {one.name for one in project.types} or status not in project.statuses:
        raise wrong(place, "its project has no such type or status")
    priority = issue.priority or site.names.priority
    if priority not in site.names.priorities:
        raise wrong(place, f"the site has no priority {priority!r}")
    authors = [one.author for one in (*issue.comments, *issue.attachments)]
    for person in (issue.reporter, *authors, issue.assignee or issue.reporter):
        _require_user(site, person, place)
    now = site.clock()
    at = site.clock() - issue.minutes_ago * MINUTE
    site.reserve(issue.key)
    added = Issue(
        id=site.new_id(),
        key=issue.key,
        project=project.key,
        type=kind,
        status=status,
        summary=issue.summary,
        creator=issue.reporter,
        reporter=issue.reporter,
        created=at,
        updated=at,
        description=document(issue.description) if issue.description else None,
        labels=issue.labels,
        assignee=issue.assignee,
        priority=priority,
        security=issue.security,
        comments=tuple(_comment(site, comment, now) for comment in issue.comments),
        attachments=tuple(_attachment(site, one, now) for one in issue.attachments),
    )
    # The search index contains every issue of the world file, however small its `minutes_ago` is.
    site.put(added, at=float("-inf"))


def _comment(site: Site, comment: _Comment, now: float) -> Comment:
    at = now - comment.minutes_ago * MINUTE
    return Comment(site.new_id(), comment.author, document(comment.body), at, comment.visibility)


def _attachment(site: Site, one: _Attachment, now: float) -> Attachment:
    content = one.content or one.text.encode()
    at = now - one.minutes_ago * MINUTE
    return Attachment(
        id=site.new_id(),
        filename=one.filename,
        author=one.author,
        size=len(content),
        created=at,
        content=content,
        mime_type=one.mime_type,
    )


def _require_user(site: Site, account_id: str, place: str) -> None:
    if account_id not in site.users:
        raise wrong(place, f"{account_id!r} is not among the users")
