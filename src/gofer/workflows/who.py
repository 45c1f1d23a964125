"""The people who may start a workflow, as its file names them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from gofer.workflows.parts import Name

GROUPS = ("members", "guests", "externals", "bots", "everyone")
"""Words that stand for many people; `everyone` is every person and no bot."""
_FORM = rf"^({'|'.join(GROUPS)}|@[^\s@]{{1,80}}|[UW][A-Z0-9]{{6,}})$"


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


One = Annotated[str, Field(pattern=_FORM)]
Who = Annotated[
    tuple[One, ...],
    Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=Name | tuple[One, ...]),
]
"""Many people by those words, user groups and people as `@handle`, people by id; one that stands alone is a list."""


def bots_apart(who: Sequence[str], kind: str) -> Mapping[str, list[str]]:
    """The condition that keeps bots out before a run begins, unless they are named."""
    return {"bot": ["false"]} if kind.startswith("slack.") and "bots" not in who else {}
