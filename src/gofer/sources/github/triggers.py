"""The kinds of triggers of GitHub with their conditions."""

import re
from collections.abc import Mapping
from typing import ClassVar

from gofer.workflows.form_parts import Names
from gofer.workflows.when import Conditions, TriggerKind, TriggerSpec
from gofer.workflows.writes import Listable, place_entry

_REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"


class GithubConditions(Conditions):
    """Conditions on events in a repository on GitHub."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    action: Names | None = None
    """The action, in GitHub's words.

    `merged` means closed and merged, `closed` means closed with or without a merge.
    """
    label: Names | None = None
    """Labels; the issue or pull request must have one of them."""


class GithubPullRequest(GithubConditions):
    """A person or app opens, changes, closes or merges a pull request."""

    base: Names | None = None
    """Branches into which the pull request is to be merged."""


class GithubComment(GithubConditions):
    """A person or app comments on an issue or pull request."""

    says: Names | None = None
    """Patterns for the text of the comment, such as `*@gofer*`."""


class GithubPush(Conditions):
    """A person or app pushes to a branch."""

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    branch: Names | None = None
    """Branches, such as `main` or `release/*`."""


REPOSITORIES = Listable(
    "github",
    place_entry(
        _REPOSITORY,
        wrong="This is not a repository of GitHub.",
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
