"""The repositories that a world file describes under its key `github`."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from gofer.values.errors import ConfigError
from gofer_simulators.github.repositories import Hub, Issue, Pull, Repository, Review, User, encoded
from gofer_simulators.world_file import Part, read_world, wrong

HOUR = 3600.0


class _Part(Part):
    model_config = ConfigDict(strict=True)


class _User(_Part):
    login: str = Field(pattern=r"^[A-Za-z0-9-]+(\[bot\])?$")
    name: str = ""
    bot: bool = False


class _Comment(_Part):
    user: str
    body: str
    hours_ago: float = Field(default=1.0, ge=0)


class _Review(_Comment):
    body: str = ""
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED"] = "COMMENTED"


class _Commit(_Part):
    author: str
    message: str
    files: dict[str, str | None] = Field(default_factory=dict[str, str | None])
    hours_ago: float = Field(default=24.0, ge=0)


class _Issue(_Part):
    title: str
    author: str
    number: int | None = Field(default=None, gt=0)
    body: str = ""
    state: Literal["open", "closed"] = "open"
    labels: list[str] = Field(default_factory=list[str])
    assignees: list[str] = Field(default_factory=list[str])
    comments: list[_Comment] = Field(default_factory=list[_Comment])
    hours_ago: float = Field(default=2.0, ge=0)


class _Pull(_Issue):
    base: str = ""
    """Default: the default branch of the repository."""
    head: str = "feature"
    draft: bool = False
    merged: bool = False
    changes: dict[str, str | None] = Field(default_factory=dict[str, str | None])
    reviewers: list[str] = Field(default_factory=list[str])
    reviews: list[_Review] = Field(default_factory=list[_Review])


class _Repository(_Part):
    full_name: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    private: bool = True
    hidden: bool = False
    default_branch: str = "main"
    collaborators: list[str] | None = None
    """Default: all users."""
    teams: list[str] = Field(default_factory=list[str])
    files: dict[str, str] = Field(default_factory=dict[str, str])
    submodules: list[str] = Field(default_factory=list[str])
    commits: list[_Commit] = Field(default_factory=list[_Commit])
    pulls: list[_Pull] = Field(default_factory=list[_Pull])
    issues: list[_Issue] = Field(default_factory=list[_Issue])


class _World(_Part):
    user: str = "gofer[bot]"
    """The login of the token's account."""
    users: list[_User] = Field(default_factory=list[_User])
    repositories: list[_Repository] = Field(default_factory=list[_Repository])


def load_hub(world: Mapping[str, object], clock: Callable[[], float]) -> Hub:
    """Return the users and repositories of a world. Raises ConfigError."""
    return _Loading(Hub(clock)).load(read_world(_World, "github", world))


class _Loading:
    """The loader that fills a hub in the order of the world file."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._now = hub.clock()

    def load(self, world: _World) -> Hub:
        hub = self._hub
        own_login = _User(login=world.user, bot=world.user.endswith("[bot]"))
        for one in [own_login, *(user for user in world.users if user.login != world.user)]:
            hub.users[one.login] = User(hub.new_id(), one.login, one.name or one.login, one.bot)
        hub.own_login = world.user
        for one in world.repositories:
            self._repository(one)
        return hub

    def _repository(self, one: _Repository) -> None:
        if one.full_name in self._hub.repositories:
            raise wrong("github.repositories", f"{one.full_name} occurs twice")
        collaborators = one.collaborators
        if collaborators is None:
            collaborators = list(self._hub.users)
        repository = Repository(
            self._hub.new_id(),
            one.full_name,
            one.private,
            one.hidden,
            one.default_branch,
            collaborators=frozenset(map(self._login, collaborators)),
            teams=frozenset(one.teams),
            submodules=frozenset(one.submodules),
        )
        self._hub.repositories[one.full_name] = repository
        first = _Commit(author=self._hub.own_login, message="First files", files=dict(one.files), hours_ago=24.0 * 365)
        for commit in [first, *sorted(one.commits, key=lambda each: -each.hours_ago)]:
            self._commit(repository, one.default_branch, commit)
        for pull in one.pulls:
            self._pull(repository, pull)
        for issue in one.issues:
            self._issue(repository, issue)

    def _commit(self, repository: Repository, branch: str, one: _Commit) -> None:
        files = encoded(one.files)
        self._hub.commit(repository, branch, self._login(one.author), one.message, files, self._ago(one.hours_ago))

    def _issue(self, repository: Repository, one: _Issue) -> Issue:
        issue = self._hub.open_issue(repository, self._login(one.author), one.title, one.body, self._ago(one.hours_ago))
        if one.number is not None:
            del repository.issues[issue.number]
            if one.number in repository.issues:
                raise ConfigError(f"The world is wrong: {repository.full_name} has the number {one.number} twice.")
            issue.number = one.number
            repository.issues[one.number] = issue
        issue.labels = list(one.labels)
        issue.assignees = list(map(self._login, one.assignees))
        if one.state == "closed":
            issue.closed_at = issue.updated_at
        for comment in one.comments:
            self._hub.comment(issue, self._login(comment.user), comment.body, self._ago(comment.hours_ago))
        return issue

    def _pull(self, repository: Repository, one: _Pull) -> None:
        issue = self._issue(repository, one)
        pull = Pull(self._hub.new_id(), one.base or repository.default_branch, one.head, one.draft)
        pull.reviewers = list(map(self._login, one.reviewers))
        for review in one.reviews:
            at = self._ago(review.hours_ago)
            pull.reviews.append(
                Review(
                    self._hub.new_id(),
                    user=self._login(review.user),
                    state=review.state,
                    body=review.body,
                    submitted_at=at,
                )
            )
        self._hub.make_pull(issue, pull, encoded(one.changes))
        if one.merged:
            self._hub.merge(issue, pull, issue.user)

    def _login(self, login: str) -> str:
        if login not in self._hub.users:
            raise ConfigError(f"The world is wrong: it names {login!r}, who is not among github.users.")
        return login

    def _ago(self, hours: float) -> float:
        return self._now - hours * HOUR
