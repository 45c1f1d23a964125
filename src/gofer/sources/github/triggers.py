"""The kinds of triggers of GitHub with their conditions."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from typing_extensions import override

from gofer.sources.github.event_actions import ACTIONS, Actions
from gofer.workflows.form_parts import Names
from gofer.workflows.when import SAYS, Conditions, OddWord, TriggerKind, TriggerSpec, Where, odd
from gofer.workflows.writes import Listable, place_entry

_REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"
_REPOSITORY_OR_OWNER = r"[A-Za-z0-9_.-]{1,100}(?:/[A-Za-z0-9_.-]{1,100})?"


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


class GithubConditions(Conditions):
    """Conditions on events in a repository on GitHub."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES}
    ACTIONS: ClassVar[Actions]

    repository: Names | None = None
    """Repositories, such as `acme/shop` or `acme/*`."""
    action: Names | None = None
    """The action, in GitHub's words. Left out: something new begins, such as `opened` or `created`.

    `merged` means closed and merged, `closed` means closed with or without a merge.
    """
    label: Names | None = None
    """Labels; the issue or pull request must have one of them. Without `action`, adding one also counts."""

    @override
    def where(self) -> Where:
        conditions = super().where()
        return {"action": self.ACTIONS.by_default(conditions.get("labels", [])), **conditions}

    @override
    def changed(self) -> tuple[str, str] | None:
        if self.action is not None:
            return None
        taken = ", ".join(f"`{action}`" for action in self.where()["action"])
        listed = ", ".join(self.ACTIONS.starts)
        return (
            f"without `action` means only {taken}; in earlier versions it meant every action.",
            f'Name what should start it, such as `action: [{listed}]`, or write `action: "*"` for all as before.',
        )


class GithubPullRequest(GithubConditions):
    """A person or app opens, changes, closes or merges a pull request."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES, "base": _BRANCHES}
    ACTIONS: ClassVar[Actions] = ACTIONS["github.pull_request"]
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ACTIONS.every}

    base: Names | None = None
    """Branches into which the pull request is to be merged."""


class GithubIssue(GithubConditions):
    """A person or app opens, changes or closes an issue."""

    ACTIONS: ClassVar[Actions] = ACTIONS["github.issue"]
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ACTIONS.every}


class GithubReview(GithubConditions):
    """A person or app reviews a pull request."""

    ACTIONS: ClassVar[Actions] = ACTIONS["github.review"]
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ACTIONS.every}


class GithubComment(GithubConditions):
    """A person or app comments on an issue or pull request."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"repository": _REPOSITORIES, "says": SAYS}
    ACTIONS: ClassVar[Actions] = ACTIONS["github.comment"]
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {"action": ACTIONS.every}

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
    readable=place_entry(
        _REPOSITORY_OR_OWNER,
        wrong="This is neither a repository nor an organisation of GitHub.",
        written="Write owner/name, as acme/app, or the owner alone.",
        named="Write the owner alone for all its repositories.",
    ),
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
