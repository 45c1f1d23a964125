"""The kinds of triggers of GitHub with their conditions."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from gofer.workflows.form_parts import Names
from gofer.workflows.when import SAYS, Conditions, OddWord, TriggerKind, TriggerSpec, odd
from gofer.workflows.writes import Listable, place_entry

_REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"


_REPOSITORIES: Sequence[OddWord] = (
    odd(
        r"(?:https?://|git@)[^/:]+[/:]([\w.-]+/[\w-]+(?:\.[\w-]+)*?)(?:\.git)?(?:/.*)?",
        "is a link",
        r"Write the name of the repository, `\1`.",
    ),
    odd(r"[^/*]+", "names no owner", r"Write `owner/\g<0>` with the owner of the repository, or `*/\g<0>`."),
)
_BRANCHES: Sequence[OddWord] = (
    odd(r"(?:refs/)?heads/(.+)", "is a ref, not the name of a branch", r"Write `\1`."),
    odd(r"refs/.*", "is no branch", "Remove it, because only branches start workflows."),
    odd(r".*\s.*", "has a space, and no branch has one", "Write a list with one branch an item."),
)
_OF_BOTH = frozenset((
    "assigned", "closed", "demilestoned", "edited", "labeled", "locked", "milestoned", "opened", "reopened",
    "unassigned", "unlabeled", "unlocked",
))  # fmt: skip
"""The actions on pull requests and on issues."""


class GithubConditions(Conditions):
    """Conditions on events in a repository on GitHub."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES}

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

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES, "base": _BRANCHES}
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {
        "action": _OF_BOTH
        | {"auto_merge_disabled", "auto_merge_enabled", "converted_to_draft", "dequeued", "enqueued", "merged"}
        | {"ready_for_review", "review_request_removed", "review_requested", "synchronize"}
    }

    base: Names | None = None
    """Branches into which the pull request is to be merged."""


class GithubIssue(GithubConditions):
    """A person or app opens, changes or closes an issue."""

    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {
        "action": _OF_BOTH | {"deleted", "pinned", "transferred", "typed", "unpinned", "untyped"}
    }


class GithubReview(GithubConditions):
    """A person or app reviews a pull request."""

    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ("dismissed", "edited", "submitted")}


class GithubComment(GithubConditions):
    """A person or app comments on an issue or pull request."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES, "says": SAYS}
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ("created", "deleted", "edited")}

    says: Names | None = None
    """Patterns for the text of the comment, such as `*@gofer*`."""


class GithubPush(Conditions):
    """A person or app pushes to a branch."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES, "branch": _BRANCHES}

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
        TriggerKind("github.issue", GithubIssue, place=_PLACE, foreign="issues issue"),
        TriggerKind("github.comment", GithubComment, continues=True, place=_PLACE, foreign="issue_comment"),
        TriggerKind("github.review", GithubReview, continues=True, place=_PLACE),
        TriggerKind("github.push", GithubPush, place=_PLACE, foreign="push"),
    ),
)
