"""The kinds of triggers of Jira with their conditions."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field
from typing_extensions import override

from gofer.workflows.form_parts import Name, Names
from gofer.workflows.when import SAYS, Conditions, OddWord, TriggerKind, TriggerSpec, Where, odd
from gofer.workflows.writes import Listable, place_entry

_PROJECT = r"[A-Z][A-Z0-9_]{0,50}"
_WRITE_KEY = "Write its key in capital letters, as PAY."
_PROJECTS: Sequence[OddWord] = (
    odd(r"(?:https?://.*/)?([A-Za-z]\w*)-[0-9]+", "is the key of an issue", r"Write the key of the project, `\1`."),
    odd(r".*[^\w*].*", "cannot be the key of a Jira project", _WRITE_KEY),
    odd(r"[A-Z].*[a-z].*", "looks like the name of a Jira project", _WRITE_KEY, never=False),
)


class JiraConditions(Conditions):
    """Conditions on events of an issue in Jira."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels"}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"project": _PROJECTS}

    project: Names | None = None
    """Keys of projects."""
    type: Names | None = None
    """Names of issue types."""
    label: Names | None = None
    """Labels; the issue must have one of them."""


class JiraCommented(JiraConditions):
    """A person or app comments on an issue in Jira."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"project": _PROJECTS, "says": SAYS}

    says: Names | None = None
    """Patterns for the text of the comment, such as `*@gofer*`."""


class JiraUpdated(JiraConditions):
    """A person or app changes an issue in Jira."""

    FACTS: ClassVar[Mapping[str, str]] = {"label": "labels", "field": "", "from_": "", "to": ""}

    field: Name | None = None
    """The field that changes, as Jira's history names it: `status`."""
    from_: Annotated[Name | None, Field(alias="from")] = None
    """The value before the change."""
    to: Name | None = None
    """The value after the change."""

    @override
    def where(self) -> Where:
        if not (self.field or self.from_ or self.to):
            return super().where()
        # The three conditions must match the same change, so they become one fact.
        change = f"{self.field or '*'}: {self.from_ or '*'} -> {self.to or '*'}"
        return super().where() | {"changes": [change]}


PROJECTS = Listable(
    "jira",
    place_entry(
        _PROJECT,
        wrong="This is not the key of a Jira project.",
        written="Write the key in capital letters, as PAY.",
        named=_WRITE_KEY,
    ),
    "Projects, by their keys.",
    example="[PAY]",
    linked=re.compile(r"https://[\w.-]+/browse/([A-Z][A-Z0-9_]+)-[0-9]+"),
)
_PLACE = "project: OPS"

JIRA = TriggerSpec(
    writes=PROJECTS,
    serves=True,
    kinds=(
        TriggerKind("jira.issue_created", JiraConditions, place=_PLACE, foreign="issues issue"),
        TriggerKind("jira.issue_updated", JiraUpdated, place=_PLACE),
        TriggerKind("jira.commented", JiraCommented, continues=True, place=_PLACE),
        TriggerKind("jira.attachment_added", JiraConditions, place=_PLACE),
    ),
)
