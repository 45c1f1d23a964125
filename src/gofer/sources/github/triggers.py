"""The kinds of triggers of GitHub with their conditions."""

from collections.abc import Mapping
from typing import ClassVar

from gofer.workflows.form_parts import Names
from gofer.workflows.when import Conditions, TriggerKind, TriggerSpec


class GithubConditions(Conditions):
    """Conditions of what happens in a repository on GitHub."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    action: Names | None = None
    """What was done, in GitHub's words; `merged` is closed and merged, `closed` is either."""
    label: Names | None = None
    """Labels of which it has one."""


class GithubPullRequest(GithubConditions):
    """A pull request is opened, changed, closed or merged."""

    base: Names | None = None
    """Branches that it is to be merged into."""


class GithubComment(GithubConditions):
    """Somebody comments on an issue or a pull request."""

    says: Names | None = None
    """What the comment says, such as `*@gofer*`."""


class GithubPush(Conditions):
    """Somebody pushes to a branch."""

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    branch: Names | None = None
    """Branches, such as `main` or `release/*`."""


_PLACE = "repository: acme/shop"

GITHUB = TriggerSpec(
    kinds=(
        TriggerKind("github.pull_request", GithubPullRequest, place=_PLACE),
        TriggerKind("github.issue", GithubConditions, place=_PLACE),
        TriggerKind("github.comment", GithubComment, continues=True, place=_PLACE),
        TriggerKind("github.review", GithubConditions, continues=True, place=_PLACE),
        TriggerKind("github.push", GithubPush, place=_PLACE),
    ),
)
