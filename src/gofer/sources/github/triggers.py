"""The kinds of triggers of GitHub with their conditions."""

import re
from collections.abc import Mapping
from typing import ClassVar

from gofer.workflows.form_parts import Names
from gofer.workflows.when import Conditions, TriggerKind, TriggerSpec
from gofer.workflows.writes import Listable, place_entry

_REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"


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


REPOSITORIES = Listable(
    "github",
    place_entry(
        _REPOSITORY,
        wrong="This is no repository of GitHub.",
        written="Write owner/name, as acme/app.",
        named="Write its name as owner/name, such as acme/app.",
    ),
    "Repositories, as owner/name.",
    example="[acme/app]",
    linked=re.compile(r"https://github\.com/([\w-]+/[\w.-]*\w)(?=[/#?\s)>\"'.,]|$)"),
)
_PLACE = "repository: acme/shop"

GITHUB = TriggerSpec(
    writes=REPOSITORIES,
    kinds=(
        TriggerKind("github.pull_request", GithubPullRequest, place=_PLACE, foreign="pull_request"),
        TriggerKind("github.issue", GithubConditions, place=_PLACE, foreign="issues issue"),
        TriggerKind("github.comment", GithubComment, continues=True, place=_PLACE, foreign="issue_comment"),
        TriggerKind("github.review", GithubConditions, continues=True, place=_PLACE),
        TriggerKind("github.push", GithubPush, place=_PLACE, foreign="push"),
    ),
)
