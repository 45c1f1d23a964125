"""The entries of what a run has beside its conversation: files, skills and a plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.values.missing import Missing


@dataclass(frozen=True, slots=True)
class FileAdded:
    """`file.added`: something the run can look into by its id, without having it in its window.

    Of a file that stands elsewhere (an attachment) it comes twice: when the run learns of it, and when it was fetched.
    """

    file: str
    """Its id, as tools take it: `<prefix>_<first digits of a hash>`."""
    name: str
    """For people and models: what an outsider may have called it, without anything that is not plain text."""
    media_type: str
    size: int
    """Bytes; of one that was not fetched yet as its origin says it."""
    origin: str
    """Where it comes from, in a few words: a system, a tool, `extracted from file_1a2b3c4d`."""
    body: str = ""
    """Hash of its sealed content; empty while it was not fetched."""
    run: str = ""
    """The run that holds the content; empty is this one."""
    source: Mapping[str, object] | None = None
    """What fetches it: `tool` and its `arguments`; None for what the run made itself."""
    preloaded: bool = False
    """Whether its whole content stands in the first message."""
    missing: tuple[Missing, ...] = ()
    """Parts of the document that this text of it does not hold; empty for a complete file."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """`file.read`: a part of a file was shown to the model. Lines and pages count from 1, bytes from 0; `stop` is
    included for lines and pages and not for bytes."""

    file: str
    unit: Literal["lines", "bytes", "pages", "matches"]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class SkillLoaded:
    """`skill.loaded`: the text of a skill, or of one file of its folder, was shown to the model."""

    skill: str
    file: str = ""
    """Path below the skill's folder; empty is SKILL.md."""


TodoStatus = Literal["pending", "in_progress", "completed", "blocked"]


@dataclass(frozen=True, slots=True)
class Todo:
    """One step of a plan."""

    id: str
    description: str
    status: TodoStatus = "pending"
    needs: str = ""
    """Of a blocked one: what is needed from a person."""


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """`plan.updated`: the whole plan as it is from now on."""

    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """Estimated tokens of one request, before any provider counted it."""

    roles: Mapping[str, int]
    """By what it is there for: system, tools, skills, files, history, tail."""
    kinds: Mapping[str, int]
    """By kind of content, which is what vocabularies differ in."""
    window: int = 0
    """Tokens that the model takes at most, answer included."""
    expected: int = 0
    """How many tokens the request was expected to have, by earlier counts and these estimates."""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """`context.compacted`: the beginning of the history leaves the window; a summary and a file stand in for it."""

    summary: str
    file: str
    """Id of the file that holds what left, word for word."""
    kept: int
    """Messages of the beginning that stay, before the summary."""
    folded: int
    """Messages that leave, after those."""
    turns: tuple[int, int]
    """The first and the last answer of the model among them, counted from 1."""
    by: Literal["model", "code"]
    """Who wrote the summary: the model, or, where it gave none of use, code."""


FINISH = "finish"
"""The tool that ends the work."""
BOOKKEEPING = frozenset({"todo_write", "todo_update", "todo_read", FINISH})
"""Tools by which a run keeps its own books; they count toward no limit of tool calls."""

Fact = FileAdded | FileRead | SkillLoaded | PlanUpdated
"""What a tool may find or change of the workspace; the step that called it writes it down beside its result."""
