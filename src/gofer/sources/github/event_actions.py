"""The actions that GitHub publishes for each kind of event, and those that start a workflow without `action`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LABELED = "labeled"
"""The action of a new label. Its fact also holds the label: `labeled bug`."""


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of one kind of event."""

    starts: Sequence[str]
    """The actions with which people mean that something new begins. A trigger without `action` takes these."""
    named: Sequence[str]
    """The other actions, which start a workflow only if its file names them."""

    @property
    def every(self) -> Sequence[str]:
        """Return all actions."""
        return *self.starts, *self.named

    @property
    def described(self) -> str:
        """Return the actions for a table in a document."""
        label = f"; with `label` also `{LABELED}` with that label" if LABELED in self.named else ""
        return f"{_listed(self.starts)}{label}; only by name {_listed(sorted(self.named))}"

    def by_default(self, labels: Sequence[str]) -> list[str]:
        """Return the actions of a trigger without `action`; `labels` are the words of its condition `label`."""
        added = [f"{LABELED} {label}" for label in labels if LABELED in self.named]
        return [*self.starts, *added]


def _listed(actions: Sequence[str]) -> str:
    return ", ".join(f"`{action}`" for action in actions)


_OF_BOTH = (
    "assigned", "closed", "demilestoned", "edited", LABELED, "locked", "milestoned", "unassigned", "unlabeled",
    "unlocked",
)  # fmt: skip
"""The other actions on pull requests and on issues."""
ACTIONS: Mapping[str, Actions] = {
    "github.pull_request": Actions(
        ("opened", "reopened", "ready_for_review"),
        (
            *_OF_BOTH, "auto_merge_disabled", "auto_merge_enabled", "converted_to_draft", "dequeued", "enqueued",
            "merged", "review_request_removed", "review_requested", "synchronize",
        ),
    ),
    "github.issue": Actions(
        ("opened", "reopened"),
        (
            *_OF_BOTH, "deleted", "field_added", "field_removed", "pinned", "transferred", "typed", "unpinned",
            "untyped",
        ),
    ),
    "github.comment": Actions(("created",), ("deleted", "edited", "pinned", "unpinned")),
    "github.review": Actions(("submitted",), ("dismissed", "edited")),
}  # fmt: skip
"""The actions by kind. `merged` is Gofer's own word for `closed` with a merge; the others are GitHub's."""
